"""Hypothesis tries the same examples in every run: a failure here is a failure everywhere."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

import run

settings.register_profile("the same everywhere", derandomize=True, deadline=None)
settings.load_profile("the same everywhere")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell run.py how many tests were skipped, for the last line that it prints."""
    if run.SKIPPED in os.environ:
        skipped = len(terminalreporter.stats.get("skipped", []))
        Path(os.environ[run.SKIPPED]).write_text(str(skipped), encoding="utf-8")
