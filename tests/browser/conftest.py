"""One Chromium for all tests of pages; where there is none, they are skipped with the way to get it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.studios import RunningStudio, Window, running_studio, window

FLAGS = [
    "--no-sandbox",  # a root user in a container has none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, started once."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("pages are tested in Chromium, and there is none: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def phone(chromium: Browser) -> Iterator[BrowserContext]:
    """A window as wide as a phone, which reaches no network."""
    context = chromium.new_context(viewport={"width": 390, "height": 800}, offline=True)
    yield context
    context.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """One studio for all tests of its pages; what they spend of its budgets is little."""
    folder = tmp_path_factory.mktemp("studio")
    with running_studio(folder, "--allowed-root", str(folder)) as started:
        (folder / "guests.csv").write_text(
            "guest,dish\n" + "".join(f"g{i},{'soup' if i % 5 else 'pie'}\n" for i in range(300)),
            encoding="utf-8",
        )
        yield started


@pytest.fixture
def desk(chromium: Browser, studio: RunningStudio) -> Iterator[Window]:
    """A window in which nothing goes wrong."""
    with window(chromium, studio.address) as opened:
        yield opened
        assert opened.complaints == []
