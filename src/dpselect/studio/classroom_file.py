"""The classroom as one file that needs no server: every law is in it, radio buttons choose which is shown."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpselect.exact.rounding import short_decimal
from dpselect.studio.classroom import Lesson
from dpselect.studio.classroom_charts import error_rows, laws_chart, ratio_chart
from dpselect.studio.pages import STATIC
from dpselect.studio.svg import Piece
from dpselect.studio.templates import Templates

EPSILONS_OF_A_FILE = tuple(map(Fraction, ("1/20", "1/10", "1/5", "1/2", "1", "3/2", "2", "3", "5")))


def classroom_file(lesson: Lesson) -> str:
    """Give the page: scores of a lesson, epsilons from 0.05 to 5, one more vote for any candidate or none."""
    epsilons = sorted({*EPSILONS_OF_A_FILE, lesson.epsilon})
    choices: list[int | None] = [None, *range(len(lesson.names))]
    panels = [
        _panel(replace(lesson, epsilon=epsilon, more=more), f"law-{row}-{column}")
        for row, epsilon in enumerate(epsilons)
        for column, more in enumerate(choices)
    ]
    shown = (
        f"body:has(#epsilon-{row}:checked):has(#more-{column}:checked) .law-{row}-{column}{{display:block}}"
        for row in range(len(epsilons))
        for column in range(len(choices))
    )
    css = (STATIC / "studio.css").read_text(encoding="utf-8")
    return Templates().text(
        "classroom_file.html",
        style=Piece(css + "\n".join(shown)),
        lesson=lesson,
        epsilons=[(row, short_decimal(each), each == lesson.epsilon) for row, each in enumerate(epsilons)],
        choices=[
            (column, "no one" if more is None else lesson.names[more], more == lesson.more)
            for column, more in enumerate(choices)
        ],
        panels=panels,
    )


def _panel(lesson: Lesson, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "laws": laws_chart(lesson),
        "ratios": ratio_chart(lesson),
        "errors": error_rows(lesson.laws()),
    }
