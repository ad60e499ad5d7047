"""Where words go: results to standard output, notes and progress to standard error, if it is a terminal."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dpselect.errors import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PIPED_WIDTH = 120
"""Characters of a line where the output is no terminal."""
SPINNER_DELAY = 0.5
"""Seconds before a spinner appears: one that only flashes is a nuisance."""


def results() -> Console:
    """Give the console for results: plain text if standard output is no terminal."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def notes() -> Console | None:
    """Give the console for notes and progress; None if standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def note(sentence: str) -> None:
    """Write a note, if standard error is a terminal."""
    console = notes()
    if console is not None:
        console.print(f"note: {visible(sentence)}", style="dim", markup=False)


def write_json(facts: Mapping[str, Any]) -> None:
    """Write facts as JSON; letters beyond ASCII as they are where the terminal knows them.

    What a screen would obey is written by its number, in JSON's own way: any reader gets it back.
    """
    knows_all = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    text = json.dumps(facts, indent=2, ensure_ascii=not knows_all)
    click.echo("\n".join(map(_escaped, text.split("\n"))))


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)


def write_facts(facts: Mapping[str, str]) -> None:
    """Write names and facts in two columns."""
    from rich.text import Text

    console, width = results(), max(map(len, facts))
    for name, fact in facts.items():
        console.print(Text.assemble((f"{name:{width}}", "cyan"), "  ", visible(fact)), soft_wrap=True)


def write_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int]) -> None:
    """Write a table; the columns at the places ``right`` hold numbers, which are set to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    for place, heading in enumerate(headings):
        table.add_column(
            Text(visible(heading)), justify="right" if place in right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    results().print(table)


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show that something goes on, if it takes a while and standard error is a terminal."""
    console = notes()
    if console is None:
        yield
        return
    status = console.status(doing)
    timer = threading.Timer(SPINNER_DELAY, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def progress() -> Iterator[Progress | None]:
    """Give a progress bar, if standard error is a terminal."""
    console = notes()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [BarColumn(24), TextColumn("{task.completed:.0f}/{task.total:.0f}"), TimeElapsedColumn()]
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as bar:
        yield bar
