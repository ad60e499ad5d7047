"""The pictures of the docs are taken of the real pages, with the demonstration's data: docs/images.

``python3 run.py test tests/browser/test_pictures.py --pictures`` takes them anew. Look at them before you
commit them: each run draws answers of its own.
"""

import re
import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.studios import PHONE, running_studio, wait_for_answer, window

DOCS = Path(__file__).parents[2] / "docs"
DESK = (1100, 900)
HEIGHTS = {
    "studio-ask": 860,
    "studio-answer": 560,
    "studio-history": 640,
    "studio-classroom": 860,
    "studio-data-set": 900,
    "studio-phone": 844,
}
"""In pixels: the upper part of a page that is shown."""
PAY = re.compile("^Pay")


def size(picture: Path) -> tuple[int, int]:
    """Read the width and the height of a PNG file."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


def take(page: Page, name: str, folder: Path) -> None:
    """Take the upper part of a page, as wide as its window."""
    clip = {"x": 0, "y": 0, "width": page.evaluate("innerWidth"), "height": HEIGHTS[name]}
    page.screenshot(path=folder / f"{name}.png", clip=clip, full_page=True, caret="initial")  # type: ignore[arg-type]


def test_the_pictures_of_the_docs_are_of_the_pages_as_they_are_asked(
    chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept = DOCS / "images"
    folder = kept if request.config.getoption("--pictures") else tmp_path
    with running_studio(tmp_path / "studio") as studio:
        with window(chromium, studio.address, DESK) as opened:
            page = opened.log_in(studio.analyst_key)
            take(page, "studio-ask", folder)
            page.get_by_label("Question").select_option("top")
            expect(page.get_by_label("How many winners")).to_be_visible()
            page.get_by_role("button", name=PAY).click()
            wait_for_answer(page)
            take(page, "studio-answer", folder)
            opened.go("/ask?epsilon=1/2")
            page.get_by_role("button", name=PAY).click()
            wait_for_answer(page)
            take(opened.go("/history"), "studio-history", folder)
            assert opened.complaints == []
        with window(chromium, studio.address, DESK, color_scheme="dark") as opened:
            take(opened.go("/classroom?more=1"), "studio-classroom", folder)
        with window(chromium, studio.address, DESK) as opened:
            opened.log_in(studio.curator_key)
            take(opened.go("/data/mascots"), "studio-data-set", folder)
        with window(chromium, studio.address, PHONE) as opened:
            take(opened.log_in(studio.analyst_key), "studio-phone", folder)
    taken = {path.stem: size(path) for path in folder.glob("studio-*.png")}
    assert taken == {path.stem: size(path) for path in kept.glob("studio-*.png")}
    assert taken.keys() == HEIGHTS.keys()


def test_every_picture_is_shown_on_a_page() -> None:
    pages = "".join(
        path.read_text(encoding="utf-8") for path in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    )
    assert [path.name for path in (DOCS / "images").iterdir() if f"images/{path.name}" not in pages] == []
