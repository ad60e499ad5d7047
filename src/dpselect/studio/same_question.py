"""The question of a page as a command, as Python and as a call of the service, with the same digest.

A page tells no path, so the table and the ledger have made-up names: the data set's.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.exact.rounding import exact_text, short_decimal
from dpselect.problems.bounded_counts import ByList
from dpselect.studio.asked_problem import fraction_of
from dpselect.studio.asked_question import OF_NAMES, AskedQuestion
from dpselect.studio.offer import Offer

MOST_NAMED = 6
"""Candidates that are written out; more are in a file."""


@dataclass(frozen=True)
class SameQuestion:
    """One question in three languages."""

    command: str
    python: str
    curl: str
    files: str
    """What the names of files stand for."""


def same_question(offer: Offer) -> SameQuestion:
    """Write the question of an offer."""
    return SameQuestion(_command(offer), _python(offer), _curl(offer), _files(offer))


def _files(offer: Offer) -> str:
    asked, name, command = offer.asked, offer.data_set.name, _command(offer)
    lists = [
        f"{file} for the public list of {column}, one on each line"
        for file, column in (("candidates.txt", asked.column), ("groups.txt", asked.each))
        if file in command
    ]
    stand = [f"{name}.csv stands for its file", f"{name}.ledger for a ledger with your account", *lists]
    return f"{', '.join(stand)}."


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
    words += _each(asked)
    words += ["--dataset", name, "--ledger", f"{name}.ledger", "--account", offer.account.name]
    return _broken([shlex.quote(word) for word in words])


def _verb(asked: AskedQuestion) -> list[str]:
    return {
        "vote": ["vote"],
        "plurality": ["vote", "--kind", "plurality"],
        "borda": ["vote", "--kind", "borda", "--rank", asked.rank],
        "top": ["vote", "--k", str(asked.winners)],
    }.get(asked.question, [asked.question])


def _each(asked: AskedQuestion) -> list[str]:
    if not asked.each:
        return []
    few = ["--groups-per-person", asked.groups_per_person] if asked.groups_per_person else []
    return ["--each", asked.each, "--groups", _list_word(asked.groups, "groups.txt"), *few]


def _list_word(names: Sequence[str], file: str) -> str:
    """Write a short list with commas; another one is in a file."""
    plain = len(names) <= MOST_NAMED and not any("," in name for name in names)
    return ",".join(names) if plain else file


def _of_what(asked: AskedQuestion) -> list[str]:
    if asked.question in OF_NAMES:
        where = ["--candidates", _list_word(asked.candidates, "candidates.txt")]
        return ["--column", asked.column, *where, *(["--ignore-case"] if asked.ignore_case else [])]
    step = asked.step or ("0.01" if asked.question == "price" else "")
    at = ["--at", ",".join(_fractions(asked))] if asked.question == "quantile" else []
    between = ["--between", f"{asked.low}:{asked.high}", *(["--step", step] if step else [])]
    more = {
        "threshold": ["--label", asked.label, "--yes", asked.yes],
        "window": ["--width", asked.width],
    }.get(asked.question, [])
    people = ["--people", asked.people] if asked.people else []
    return ["--value", asked.column, *more, *between, *at, *people]


def _fractions(asked: AskedQuestion) -> list[str]:
    """Write fractions of people as a terminal and Python read them: a page reads per cent too."""
    if asked.question == "summary":
        return ["0.05", "0.25", "0.5", "0.75", "0.95"]
    return [exact_text(fraction_of(each, "at")) for each in (asked.at or "1/2").split(",")]


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
    asked, name, groups = offer.asked, offer.data_set.name, offer.quote.groups
    k = 1 if offer.problem.at else offer.quote.k
    ask, problem = _problem(offer)
    unit = "" if offer.data_set.unit is None else f", unit={offer.data_set.unit!r}"
    verb = ("top_k" if k > 1 else "select") + ("" if groups is None else "_each")
    more = [
        *([] if groups is None else [f"by={asked.each!r}", "groups=groups"]),
        *([f"groups_per_person={asked.groups_per_person}"] if asked.groups_per_person else []),
        *([f"k={k}"] if k > 1 else []),
        f"epsilon={exact_text(offer.epsilon)!r}",
        *([f"neighbours={offer.quote.neighbours!r}"] if offer.quote.neighbours != "add_remove" else []),
        *([f"quorum={asked.wished_quorum!r}"] if asked.quorum else []),
        *(["gap=True"] if asked.gap else []),
        *([f"people={asked.people}"] if asked.people else []),
    ]
    paying = f"ledger=ledger, account={offer.account.name!r}"
    asking = [
        f"    release = {verb}(",
        f"        problem, table, {', '.join(more)}, {paying}",
        "    )",
    ]
    lists = [
        *(_list_line("names", _labels(offer), "candidates.txt") if asked.question in OF_NAMES else []),
        *([] if groups is None else _list_line("groups", groups.labels, "groups.txt")),
    ]
    imports = [
        *(["from decimal import Decimal"] if any("Decimal(" in line for line in lists) else []),
        *(["from pathlib import Path"] if any("Path(" in line for line in lists) else []),
    ]
    return "\n".join(
        [
            *([*imports, ""] if imports else []),
            f"from dpselect import Ledger, Table, {ask}, {verb}",
            "",
            f"table = Table({f'{name}.csv'!r}{unit}, dataset={name!r})",
            *lists,
            f"problem = {problem}",
            f"with Ledger.open({f'{name}.ledger'!r}) as ledger:",
            *asking,
            "print(release)",
        ]
    )


def _labels(offer: Offer) -> list[Any]:
    """Give the candidates, numbers as numbers where the column holds them."""
    return [offer.problem.outputs[place] for place in range(len(offer.asked.candidates))]


def _list_line(name: str, labels: Sequence[Any], file: str) -> list[str]:
    """Write a short list; a long one is in a file, with one on each line."""
    if len(labels) <= MOST_NAMED:
        return [f"{name} = [{', '.join(map(_literal, labels))}]"]
    read = f'Path("{file}").read_text(encoding="utf-8").splitlines()'
    return [f"{name} = {read if isinstance(labels[0], str) else f'[Decimal(each) for each in {read}]'}"]


def _literal(label: Any) -> str:
    """Write a label as Python does; of numbers an exact one."""
    if isinstance(label, str):
        return repr(label)
    number = Fraction(label)
    return str(number) if number.denominator == 1 else f"Decimal({short_decimal(number)!r})"


def _problem(offer: Offer) -> tuple[str, str]:
    asked = offer.asked
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
    fractions = _fractions(asked)
    if asked.question == "window":
        return "window", f"window(value={column}, width={asked.width!r}, {between})"
    if asked.question == "threshold":
        asks = offer.problem.question
        keys = () if asks is None else asks.keys
        (yes,) = [_literal(key.values.labels[0]) for key in keys if isinstance(key, ByList)]
        return "threshold", f"threshold(value={column}, label={asked.label!r}, yes={yes}, {between})"
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
        if value and name not in ("within", "by", "candidates", "groups", "epsilon")
    }
    words["epsilon"] = exact_text(offer.epsilon)
    if asked.question in OF_NAMES and len(asked.candidates) <= MOST_NAMED:
        words["candidates"] = [*asked.candidates]
    if asked.each and len(asked.groups) <= MOST_NAMED:
        words["groups"] = [*asked.groups]
    body = json.dumps(words, ensure_ascii=False)
    return " \\\n".join(
        [
            'curl "$STUDIO/api/releases"',
            '  -H "Authorization: Bearer $KEY"',
            "  -H 'Content-Type: application/json'",
            f"  -d {shlex.quote(body)}",
        ]
    )
