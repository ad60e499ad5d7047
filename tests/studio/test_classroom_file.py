"""The classroom as one file: it needs nothing else, and the command that writes it replaces none."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpselect.studio.classroom import Lesson
from dpselect.studio.classroom_charts import laws_chart
from dpselect.studio.classroom_file import EPSILONS_OF_A_FILE, classroom_file

LESSON = Lesson(("tea", "<b>soup</b>"), (Fraction(3), Fraction(2)), Fraction(1, 3), more=1)


@pytest.fixture(scope="module")
def page() -> str:
    return classroom_file(LESSON)


def test_a_file_asks_for_nothing_outside_itself(page: str) -> None:
    assert re.findall(r"(?:src|href|action)=|url\(|@import|<script|<link", page) == []


def test_f16_names_in_a_file_are_text(page: str) -> None:
    assert "<b>soup" not in page
    assert "&lt;b&gt;soup&lt;/b&gt;" in page


def test_a_file_has_a_panel_for_each_price_and_each_extra_vote(page: str) -> None:
    panels = re.findall(r'<div class="law (law-\d+-\d+)"', page)
    assert len(panels) == len(set(panels)) == (len(EPSILONS_OF_A_FILE) + 1) * 3
    assert all(f".{name}{{display:block}}" in page for name in panels)


def test_the_first_panel_shown_is_the_lesson_that_was_asked_for(page: str) -> None:
    chosen = re.findall(r'id="(?:epsilon|more)-(\d+)" checked', page)
    panel = page.partition(f'<div class="law law-{"-".join(chosen)}"')[2]
    assert str(laws_chart(LESSON).picture) in panel.partition('<div class="law ')[0]


def test_the_folder_of_the_pages_holds_what_they_ask_for() -> None:
    studio = Path(__file__).parents[2] / "src" / "dpselect" / "studio"
    asked = {
        name
        for template in (studio / "templates").glob("*.html")
        for name in re.findall(r"/static/([\w.]+)", template.read_text(encoding="utf-8"))
    }
    assert asked == {"htmx.min.js", "studio.css", "studio.js", "studio.svg"}
    assert all((studio / "static" / name).is_file() for name in asked)
