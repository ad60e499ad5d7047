"""A real studio with its demonstration, as a process of its own; and windows of a browser that look at it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect

DESK, PHONE = (1200, 900), (390, 844)
TICK = "0.05"
"""Seconds: answers need not wait long in a test."""


@dataclass(frozen=True)
class RunningStudio:
    """Where a studio is, and the keys that it told at its start."""

    address: str
    curator_key: str
    analyst_key: str
    folder: Path

    @property
    def data(self) -> Path:
        """The folder with the demonstration's tables, where more may be registered."""
        return self.folder / "demo"


@contextlib.contextmanager
def running_studio(folder: Path, *options: str) -> Iterator[RunningStudio]:
    """Start a studio, and stop it."""
    words = [*("-m", "dpselect", "studio", "--demo", "--json", "--port", "0"), *options]
    command = [sys.executable, *words, "--folder", str(folder), "--tick", TICK]
    env = dict(os.environ, PYTHONUNBUFFERED="1")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield RunningStudio(told["address"], told["curator_key"], told["analyst_key"], folder)
        finally:
            process.terminate()


@dataclass
class Window:
    """A page of a browser, and all that went wrong in it: complaints of its console, requests elsewhere."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page of the studio."""
        self.page.goto(self.address + path)
        return self.page

    def log_in(self, key: str) -> Page:
        """Begin a session."""
        page = self.go("/login")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        return page

    def hear(self, message: ConsoleMessage) -> None:
        """Keep what the console complains of."""
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def watch(self, request: Request) -> None:
        """Keep a request that leaves the studio."""
        if not request.url.startswith((self.address, "data:", "file:")):
            self.complaints.append(f"asked {request.url}")


@contextlib.contextmanager
def window(chromium: Browser, address: str, size: tuple[int, int] = DESK, **options: Any) -> Iterator[Window]:
    """Open a window of a size; the options are those of Playwright's ``new_context``."""
    context: BrowserContext = chromium.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **options
    )
    try:
        opened = Window(context.new_page(), address)
        opened.page.on("console", opened.hear)
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", opened.watch)
        yield opened
    finally:
        context.close()


def wait_for_answer(page: Page) -> str:
    """Wait until the page has an answer; give its first label."""
    answer = page.locator("output").first
    expect(answer).to_be_visible(timeout=20_000)
    return answer.inner_text()
