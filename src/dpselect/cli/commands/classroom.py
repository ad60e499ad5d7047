"""The command ``classroom``: exact laws on public votes, and what one vote changes, as a page for offline."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpselect.cli import console
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import NUMBER_METAVAR
from dpselect.cli.user_errors import UserError


@command(
    name="classroom",
    epilog=examples(
        "classroom --output page.html", "classroom --output dishes.html --votes tea=12,coffee=10,cocoa=3"
    ),
)
@click.option("--output", metavar="FILE", help="Where to write the page; it must not be there yet.")
@click.option("--votes", metavar="a=1,b=2", help="Public votes.  [default: tea=30,soup=28,pie=24,cake=10]")
@click.option(
    "--epsilon",
    default="1",
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="The price that is shown first.",
)
def classroom_command(output: str | None, votes: str | None, epsilon: str) -> None:
    """Write a page of exact laws of selection, on PUBLIC votes.

    It needs no network, no key and no data: every law is in the file, and radio buttons choose which is
    shown. With one more vote for a candidate, the page shows how little any answer tells of one person.
    """
    from dpselect.errors import MissingExtra

    if output is None:
        raise UserError("--output must name the page to write. Write --output page.html.")
    try:
        from dpselect.studio.classroom_file import classroom_file
    except ImportError:
        raise MissingExtra.needed("the classroom", extra="studio") from None
    from dpselect.studio.classroom import Lesson

    text = classroom_file(Lesson.read({**_fields(votes), "epsilon": epsilon}))
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        refused = UserError(f"--output must name a new file; got '{output[-40:]}': {why}.")
    else:
        console.write_facts({"page": output, "open it": "in any browser; it needs no network"})
        return
    raise refused


def _fields(votes: str | None) -> dict[str, str]:
    """Read a=1,b=2 as the fields of a lesson."""
    from dpselect.studio.classroom import MOST_NAMES

    if votes is None:
        return {}
    pairs = [part.rpartition("=") for part in votes.split(",") if part.strip()]
    whole = all(name.strip() and count.strip() for name, _, count in pairs)
    if not (whole and 1 <= len(pairs) <= MOST_NAMES):
        raise UserError(
            f"--votes must name 1 to {MOST_NAMES} candidates, each with its votes. Write tea=12,coffee=10."
        )
    return {
        field: text.strip()
        for place, (name, _, count) in enumerate(pairs)
        for field, text in ((f"name{place}", name), (f"votes{place}", count))
    }
