"""The command ``verify``: prove again, on this machine, what the package says of itself."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console
from dpselect.cli.declaration import command, examples
from dpselect.cli.user_errors import WRONG, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpselect.audit.claims import Claim, Verdict

MOST_DEEPER = 16
"""Random bits that may be walked in addition."""


@command(name="verify", epilog=examples("verify --json"))
@click.option(
    "--deeper",
    type=click.IntRange(0, MOST_DEEPER),
    default=0,
    show_default=True,
    metavar="BITS",
    help="How many random bits more to walk: each bit can double the time.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
def verify_command(*, deeper: int, as_json: bool) -> None:
    """Prove again that this installation draws exactly.

    Every path of the stated number of random bits is walked through the code that is installed here. What was
    proved of each outcome must enclose the probability that theory gives it. Also compared: prices with the
    laws of neighbouring scores, and every proof with the code that it was written for.
    """
    from dpselect.audit.installation import claims

    started = time.monotonic()
    found = _checked(list(claims(deeper)))
    holds = all(verdict.holds for _, verdict in found)
    if as_json:
        console.write_json({"holds": holds, "claims": [_as_json(*pair) for pair in found]})
    else:
        _show(found, time.monotonic() - started)
    if not holds:
        wrong = sum(not verdict.holds for _, verdict in found)
        raise UserError(
            f"every claim must hold; {wrong} of {len(found)} do not. Install dpselect anew.",
            WRONG,
        )


def _checked(claims: list[Claim]) -> list[tuple[Claim, Verdict]]:
    found = []
    with console.progress() as bar:
        task = bar.add_task("", total=len(claims)) if bar else None
        for claim in claims:
            if bar and task is not None:
                bar.update(task, description=f"{claim.name}: {claim.statement}"[:70])
            found.append((claim, claim.check()))
            if bar and task is not None:
                bar.advance(task)
    return found


def _as_json(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    return {
        "subject": claim.subject,
        "name": claim.name,
        "statement": claim.statement,
        "depth": claim.depth,
        "open": None if verdict.open is None else _power(verdict),
        "holds": verdict.holds,
    }


def _show(found: list[tuple[Claim, Verdict]], seconds: float) -> None:
    walked = [pair for pair in found if pair[0].depth is not None]
    console.write_table(
        ["what", "claim", "bits walked", "left open", "verdict"],
        [
            [
                claim.name,
                claim.statement,
                str(claim.depth),
                _power(verdict),
                "proved" if verdict.holds else "WRONG",
            ]
            for claim, verdict in walked
        ],
        right=(2, 3),
    )
    rest = {
        "price": "prices bound the laws of neighbouring scores",
        "proof": "proofs fit the code beside them",
    }
    facts = {"walked": _told(walked, "claims were walked to the depth above")}
    for subject, words in rest.items():
        facts[f"{subject}s"] = _told([pair for pair in found if pair[0].subject == subject], words)
    console.write_facts({**facts, "took": f"{seconds:.0f} s"})


def _told(found: Iterable[tuple[Claim, Verdict]], words: str) -> str:
    verdicts = list(found)
    wrong = [f"{claim.name} ({claim.statement})" for claim, verdict in verdicts if not verdict.holds]
    return f"{len(verdicts) - len(wrong)} of {len(verdicts)} {words}" + (
        f"; WRONG: {', '.join(wrong)}" if wrong else ""
    )


def _power(verdict: Verdict) -> str:
    """Write how much is open as a power of two, rounded up."""
    if verdict.open is None or not verdict.open:
        return "nothing"
    return f"2^{math.ceil(math.log2(verdict.open))}"
