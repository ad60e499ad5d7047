"""The question of a page as a command, as Python and as a call of the service, with the same digest.

A page tells no path, so the table and the ledger have made-up names: the data set's.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from dpselect.exact.rounding import exact_text
from dpselect.studio.asked_question import OF_NAMES, AskedQuestion
from dpselect.studio.quotes import Offer

MOST_NAMED = 6
"""Candidates that are written out; more are in a file."""


@dataclass(frozen=True)
class SameQuestion:
    """One question in three languages."""

    command: str
    python: str
    curl: str


def same_question(offer: Offer) -> SameQuestion:
    """Write the question of an offer."""
    return SameQuestion(_command(offer), _python(offer), _curl(offer))


def _command(offer: Offer) -> str:
    asked, name = offer.asked, offer.data_set.name
    words = ["dpselect", *_verb(asked), f"{name}.csv", *_of_what(asked)]
    words += ["--unit", offer.data_set.unit] if offer.data_set.unit else ["--each-row-is-a-person"]
    words += ["--epsilon", exact_text(offer.epsilon)]
    if offer.quote.neighbours != "add_remove":
        words += ["--neighbours", offer.quote.neighbours]
    if asked.quorum:
        words += ["--quorum", asked.quorum]
    if asked.gap:
        words.append("--gap")
    words += ["--dataset", name, "--ledger", f"{name}.ledger", "--account", offer.account.name]
    return _broken([shlex.quote(word) for word in words])


def _verb(asked: AskedQuestion) -> list[str]:
    return {
        "vote": ["vote"],
        "plurality": ["vote", "--kind", "plurality"],
        "borda": ["vote", "--kind", "borda", "--rank", asked.rank],
        "top": ["vote", "--k", str(asked.winners)],
    }.get(asked.question, [asked.question])


def _of_what(asked: AskedQuestion) -> list[str]:
    if asked.question in OF_NAMES:
        names = list(asked.candidates)
        plain = len(names) <= MOST_NAMED and not any("," in name for name in names)
        where = ["--candidates", ",".join(names) if plain else "candidates.txt"]
        return ["--column", asked.column, *where, *(["--ignore-case"] if asked.ignore_case else [])]
    step = asked.step or ("0.01" if asked.question == "price" else "")
    at = ["--at", asked.at or "1/2"] if asked.question == "quantile" else []
    between = ["--between", f"{asked.low}:{asked.high}", *(["--step", step] if step else [])]
    return ["--value", asked.column, *between, *at]


def _broken(words: list[str]) -> str:
    """Break a long command before its options."""
    lines, line = [], ""
    for word in words:
        if line and word.startswith("--") and len(line) + len(word) > 60:
            lines.append(line)
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    return " \\\n".join([*lines, line])


def _python(offer: Offer) -> str:
    asked, name = offer.asked, offer.data_set.name
    k = 1 if offer.problem.at else offer.quote.k
    ask, problem = _problem(asked)
    unit = "" if offer.data_set.unit is None else f", unit={offer.data_set.unit!r}"
    names = ", ".join(["Ledger", "Table", ask, "top_k" if k > 1 else "select"])
    more = "".join(
        [
            f", k={k}" if k > 1 else "",
            f", epsilon={exact_text(offer.epsilon)!r}",
            f", neighbours={offer.quote.neighbours!r}" if offer.quote.neighbours != "add_remove" else "",
            f", quorum={asked.quorum!r}" if asked.quorum else "",
            ", gap=True" if asked.gap else "",
        ]
    )
    return "\n".join(
        [
            *(["from pathlib import Path", ""] if "Path(" in "".join(_names_lines(asked)) else []),
            f"from dpselect import {names}",
            "",
            f"table = Table({f'{name}.csv'!r}{unit}, dataset={name!r})",
            *(_names_lines(asked)),
            f"problem = {problem}",
            f"with Ledger.open({f'{name}.ledger'!r}) as ledger:",
            f"    release = {'top_k' if k > 1 else 'select'}(",
            f"        problem, table{more}, ledger=ledger, account={offer.account.name!r}",
            "    )",
            "print(release)",
        ]
    )


def _names_lines(asked: AskedQuestion) -> list[str]:
    if asked.question not in OF_NAMES:
        return []
    if len(asked.candidates) <= MOST_NAMED:
        return [f"names = {[*asked.candidates]!r}"]
    return ['names = Path("candidates.txt").read_text(encoding="utf-8").splitlines()']


def _problem(asked: AskedQuestion) -> tuple[str, str]:
    case = ", ignore_case=True" if asked.ignore_case else ""
    column = repr(asked.column)
    if asked.question in OF_NAMES:
        given = f"candidates=names{case}"
        return {
            "plurality": ("plurality", f"plurality(candidate={column}, {given})"),
            "borda": ("borda", f"borda(candidate={column}, rank={asked.rank!r}, {given})"),
            "mode": ("most_common", f"most_common(column={column}, {given})"),
        }.get(asked.question, ("approval_voting", f"approval_voting(candidate={column}, {given})"))
    step = asked.step or ("0.01" if asked.question == "price" else "")
    between = f"between=({asked.low!r}, {asked.high!r})" + (f", step={step!r}" if step else "")
    fractions = [each.strip() for each in (asked.at or "1/2").split(",")]
    if asked.question == "summary":
        fractions = ["0.05", "0.25", "0.5", "0.75", "0.95"]
    if asked.question == "price":
        return "pricing", f"pricing(value={column}, {between})"
    if len(fractions) == 1:
        return "quantile", f"quantile(value={column}, at={fractions[0]!r}, {between})"
    return "quantiles", f"quantiles(value={column}, at={fractions!r}, {between})"


def _curl(offer: Offer) -> str:
    asked = offer.asked
    words: dict[str, Any] = {
        name: value
        for name, value in vars(asked).items()
        if value and name not in ("within", "by", "candidates", "epsilon")
    }
    words["epsilon"] = exact_text(offer.epsilon)
    if asked.question in OF_NAMES and len(asked.candidates) <= MOST_NAMED:
        words["candidates"] = [*asked.candidates]
    body = json.dumps(words, ensure_ascii=False)
    return " \\\n".join(
        [
            'curl "$STUDIO/api/releases"',
            '  -H "Authorization: Bearer $KEY"',
            "  -H 'Content-Type: application/json'",
            f"  -d {shlex.quote(body)}",
        ]
    )
