"""The command ``demo``: the product in half a minute, on made-up data, by the real commands."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpselect.cli import demo_data, interrupts
from dpselect.cli.console import results, working
from dpselect.cli.declaration import command, examples
from dpselect.cli.user_errors import NO_BUDGET, WRONG, UserError
from dpselect.errors import visible

if TYPE_CHECKING:
    from rich.console import Console

PANEL_WIDTH = 100
"""Characters, at most."""
LEDGER = ["--ledger", "mascot.ledger"]
VOTE = ["vote", "ballots.csv", "--unit", "person", "--choice", "name", "--candidates", "names.txt"]
VOTE_FOR_THREE = [*VOTE, "--epsilon", "1", "--k", "3", *LEDGER, "--request-id", "mascot"]
PRICE = ["price", "survey.csv", "--unit", "person", "--value", "pays", "--prices", demo_data.PRICES]


@command(name="demo", epilog=examples("demo", "demo --folder mascot"))
@click.option("--folder", type=click.Path(file_okay=False), help="Write the made-up data here, and keep it.")
def demo_command(folder: str | None) -> None:
    """Show the main job in half a minute, on made-up data.

    Everything is made up by public formulas, in a temporary folder. The commands are the real ones.
    """
    # What is refused on purpose is part of the show, so it goes where the rest goes.
    with _stage(folder) as place, contextlib.redirect_stderr(sys.stdout):
        show = results()
        _opening(show, place)
        _act(
            show,
            1,
            "Ask before you pay",
            "A budget of 1 for three winners of 100: what does it buy? No data yet.",
        )
        _run(show, ["plan", "--n", "100", "--k", "3", "--epsilon", "1"])
        _act(
            show,
            2,
            "Open a ledger",
            "It holds the budget of these 5,000 people for all questions, and cannot be overspent.",
        )
        _run(show, ["ledger", "create", "mascot.ledger", "--epsilon", "2", "--unit", "person"])
        _act(
            show,
            3,
            "Which three mascots?",
            "The price is charged first; then the rows are read; then three names are drawn.",
        )
        _run(show, VOTE_FOR_THREE)
        _behind_the_curtain(show, _winners(place, "mascot"), dict(demo_data.votes().most_common()))
        _act(show, 4, "Which price for 'My Corona'?", "The same for numbers: which price earns most?")
        _run(show, [*PRICE, "--epsilon", "1/2", *LEDGER, "--request-id", "song"])
        earned = sorted(demo_data.revenues().items(), key=lambda pair: -pair[1])
        _behind_the_curtain(show, _winners(place, "song"), {str(price): sum_ for price, sum_ in earned})
        _act(
            show,
            5,
            "What an outsider may see",
            "This, and no more. Who asks again under the same id pays nothing.",
        )
        _run(show, [*VOTE_FOR_THREE, "--json"])
        _act(show, 6, "Try to overspend", "The ledger has 0.5 left; another vote would cost 1.")
        _run(show, [*VOTE, "--epsilon", "1", *LEDGER], expected=NO_BUDGET)
        _run(show, ["ledger", "show", "mascot.ledger"])
        _closing(show, folder)


@contextlib.contextmanager
def _stage(folder: str | None) -> Iterator[Path]:
    """Give the folder, and work in it."""
    import tempfile

    before = Path.cwd()
    with contextlib.ExitStack() as stack:
        if folder is None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpselect-demo-")))
        else:
            place = Path(folder).resolve()
            if (place / "mascot.ledger").exists():
                raise UserError(
                    f"--folder must be without a mascot.ledger; '{folder[-60:]}' has one. Name another."
                )
            place.mkdir(parents=True, exist_ok=True)
        os.chdir(place)
        try:
            yield place
        finally:
            os.chdir(before)


def _opening(show: Console, place: Path) -> None:
    from rich.panel import Panel
    from rich.text import Text

    with working("making up an election and a survey"):
        rows = demo_data.write_files(place)
    words = Text.assemble(
        ("Which one is best? ", "bold"),
        "dpselect answers from data about people, and hides each of them: the answer is drawn, so that "
        "with or without any one person its odds are nearly the same.\n\n",
        f"Made up for you, by formulas: {demo_data.PEOPLE:,} people, a mascot and a song.\n\n",
        ("ballots.csv  ", "cyan"),
        f"{rows['ballots.csv']:,} approvals of {len(demo_data.MASCOTS)} names:\n",
        (f"  {demo_data.APPROVAL_RULE};\n  {demo_data.TOWN_RULE}\n", "dim"),
        ("survey.csv   ", "cyan"),
        "what each would pay for the song 'My Corona':\n",
        (f"  {demo_data.SURVEY_RULE}", "dim"),
    )
    show.print(Panel(words, title="dpselect", border_style="cyan", padding=(1, 2), width=_width(show)))


def _width(show: Console) -> int:
    return min(show.width, PANEL_WIDTH)


def _act(show: Console, number: int, title: str, words: str) -> None:
    from rich.text import Text

    show.print()
    show.print(Text.assemble((f" {number} ", "bold black on cyan"), (f" {title}", "bold")))
    show.print(Text(words, style="italic"))


def _run(show: Console, words: Sequence[str], *, expected: int = 0) -> None:
    """Show a command, and run it as the shell would."""
    import shlex

    from rich.text import Text

    from dpselect.cli.runner import run_command

    show.print(Text.assemble(("\n$ ", "dim"), ("dpselect " + shlex.join(words), "bold yellow"), "\n"))
    show.file.flush()
    code = run_command(words)
    if interrupts.exit_code():
        raise KeyboardInterrupt
    if code != expected:
        raise UserError(
            f"the demonstration must end this command with {expected}; it ended with {code}.", WRONG
        )
    if code:
        show.print(Text(f"(exit code {code})", style="dim"))


def _winners(place: Path, request: str) -> list[str]:
    """Ask the ledger for the stored answer."""
    from dpselect.ledger import Ledger
    from dpselect.release.result import Release

    with Ledger.open(place / "mascot.ledger") as ledger:
        return [str(label) for label in Release.from_json(ledger.answer(request) or "").labels]


def _behind_the_curtain(show: Console, drawn: Sequence[str], truth: Mapping[str, object]) -> None:
    """Compare with the truth, which is public here alone; the truth begins with the best."""
    from rich.text import Text

    told = [", ".join(f"{name} {truth[name]:,}" for name in names) for names in (drawn, list(truth)[:4])]
    words = (
        f"\nBehind the curtain (all is made up, so here we may look)\n  drawn  {told[0]}\n  truth  {told[1]}"
    )
    show.print(Text(words, style="dim"))


def _closing(show: Console, folder: str | None) -> None:
    from rich.panel import Panel
    from rich.text import Text

    words = Text.assemble(
        "The winners are out, the people are not: the price was known and paid before a row was read, and "
        "what the ledger cannot afford does not happen.\n\n",
        ("next  ", "cyan"),
        "dpselect --help, dpselect plan --help, dpselect verify, docs/guarantee.md",
        "" if folder is None else f"\n\nThe files are in {visible(folder)}: run the commands there yourself.",
    )
    show.print(Panel(words, border_style="cyan", padding=(0, 2), width=_width(show)))
