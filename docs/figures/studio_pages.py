"""Take the pictures of the studio's pages in ``docs/images``.

Run it from the root of a checkout: ``.venv/bin/python -m docs.figures.studio_pages``. It starts a studio with
the demonstration's data, asks it two questions, and needs Chromium.
"""

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.studios import PHONE, running_studio, window

IMAGES = Path(__file__).parents[1] / "images"
DESK = (1100, 900)
PAY = re.compile("^Pay")


def take(page: Page, name: str, height: int) -> None:
    """Take the upper part of a page, as wide as its window."""
    width = page.evaluate("innerWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    page.screenshot(path=IMAGES / f"{name}.png", clip=clip, full_page=True, caret="initial")  # type: ignore[arg-type]


def main() -> None:
    """Start a studio, and look at it as an analyst, a curator and a class do."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        with running_studio(Path(folder)) as studio:
            with window(chromium, studio.address, DESK) as opened:
                page = opened.log_in(studio.analyst_key)
                take(page, "studio-ask", 860)
                page.get_by_label("Question").select_option("top")
                expect(page.get_by_label("How many winners")).to_be_visible()
                page.get_by_role("button", name=PAY).click()
                expect(page.locator("output").first).to_be_visible()
                take(page, "studio-answer", 560)
                opened.go("/ask?epsilon=1/2")
                page.get_by_role("button", name=PAY).click()
                expect(page.locator("output").first).to_be_visible()
                take(opened.go("/history"), "studio-history", 640)
            with window(chromium, studio.address, DESK, color_scheme="dark") as opened:
                take(opened.go("/classroom?more=1"), "studio-classroom", 860)
            with window(chromium, studio.address, DESK) as opened:
                opened.log_in(studio.curator_key)
                take(opened.go("/data/mascots"), "studio-data-set", 900)
            with window(chromium, studio.address, PHONE) as opened:
                take(opened.log_in(studio.analyst_key), "studio-phone", 844)
        chromium.close()


if __name__ == "__main__":
    main()
