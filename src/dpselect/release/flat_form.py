"""The flat form of a quote or a release: one text or whole number for each name, for tables and spreadsheets.

Names that the JSON form has too mean the same here. Numbers are exact text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from dpselect.errors import visible
from dpselect.exact.rounding import exact_text, figure, short_decimal
from dpselect.privacy.amounts import amount_text
from dpselect.privacy.losses import RenyiDP
from dpselect.release.group_form import AskedGroups, Winners
from dpselect.release.labels import PlainLabel, label_text
from dpselect.release.quote import Quote

Flat: TypeAlias = dict[str, str | int | None]

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet takes a cell that begins with one of these for a formula; four of them are wide."""
NAMES_FROM_OUTSIDE = ("unit", "by", "dataset", "where", "target", "measured_in")
"""The cells whose text a user, or a list of candidates, has chosen."""


def flat_facts(quote: Quote) -> Flat:
    """Write all but the winners."""
    loss, accuracy = quote.price, quote.accuracy
    if isinstance(loss, RenyiDP):
        bounds = loss.to_facts()[loss.symbol].items()
        price, delta = ", ".join(f"{order}: {bound}" for order, bound in bounds), None
    else:
        price, delta = amount_text(loss.amount), loss.to_facts().get("delta")
    return {
        "price": price,
        "symbol": loss.symbol,
        "delta": delta,
        "measure": quote.measure,
        "neighbours": quote.neighbours,
        "unit": quote.unit,
        "mechanism": quote.mechanism,
        "scale": exact_text(quote.scale),
        "within": figure(accuracy.within),
        "within_exact": exact_text(accuracy.within),
        "confidence": short_decimal(accuracy.confidence),
        "measured_in": accuracy.measured_in,
        "step": exact_text(accuracy.unit),
        "target": accuracy.target,
        "k": quote.k,
        "n": accuracy.n,
        "problem": quote.problem,
        "dataset": quote.dataset,
        "where": quote.where,
        "read_as": ", ".join(f"{name} {value!r}" for name, value in quote.reading) or None,
        "version": quote.version,
        **({} if accuracy.people is None else {"people": accuracy.people}),
        **({} if quote.quorum is None else {"quorum": exact_text(quote.quorum)}),
        **({} if quote.groups is None else _facts_of_groups(quote.groups)),
    }


def _facts_of_groups(groups: AskedGroups) -> Flat:
    return {
        "by": groups.by,
        "groups_per_person": groups.per_person,
        "within_all_groups": figure(groups.within),
        "within_all_groups_exact": exact_text(groups.within),
    }


def _flat_groups(groups: AskedGroups, winners: Winners) -> Flat:
    """Write each group, and its winners behind its name."""
    flat: Flat = {}
    names = _ranked("group", groups.labels)
    for name, text, won in zip(names, groups.texts, winners, strict=True):
        flat |= {name: text, f"{name}_winner": None}
        flat |= dict(zip(_ranked(f"{name}_winner", won), map(label_text, won), strict=True))
    return flat


def flat_release(
    quote: Quote,
    labels: tuple[PlainLabel, ...],
    gaps: tuple[Fraction, ...] = (),
    counts: tuple[int, ...] = (),
    won: Winners = (),
) -> Flat:
    """Write the winners, the best first, their counts and gaps if there are any, and the rest."""
    at = quote.accuracy.at
    places: Flat = dict(zip(_ranked("at", at), map(exact_text, at), strict=True))
    if quote.groups is not None:
        return _flat_groups(quote.groups, won) | places | flat_facts(quote)
    winners: Flat = dict(zip(_ranked("winner", labels), map(label_text, labels), strict=True))
    leads: Flat = dict(zip(_ranked("gap", gaps), map(exact_text, gaps), strict=True))
    sizes: Flat = dict(zip(_ranked("count", counts), counts, strict=True))
    return winners | places | sizes | leads | flat_facts(quote)


def _ranked(name: str, several: Sequence[object]) -> list[str]:
    """Name several things: the first by the name alone, the others by name and rank."""
    return [name if rank == 1 else f"{name}_{rank}" for rank in range(1, len(several) + 1)]


def csv_text(
    quote: Quote,
    labels: tuple[PlainLabel, ...] | None,
    gaps: tuple[Fraction, ...] = (),
    counts: tuple[int, ...] = (),
    won: Winners = (),
) -> str:
    """Write a line for each winner, or one without a winner, below a line of names."""
    facts = flat_facts(quote)
    if quote.groups is not None:
        return _csv_of_groups(quote, quote.groups.labels, None if labels is None else won)
    drawn: list[tuple[int | None, PlainLabel | None]] = [(None, None)]
    if labels:
        drawn = list(enumerate(labels, start=1))
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    more: dict[str, Sequence[str | int | None]] = {}
    if quote.accuracy.at:
        more["at"] = [None] if labels is None else [exact_text(each) for each in quote.accuracy.at]
    if quote.counted:
        more["count"] = [None] if labels is None else counts
    if quote.gap_grid is not None:
        more["gap"] = [None] if labels is None else [exact_text(gap) for gap in gaps]
    rows.writerow(["rank", "winner", *more, *facts])
    for place, (rank, label) in enumerate(drawn):
        winner = None if label is None else _cell(label)
        rows.writerow([rank, winner, *(column[place] for column in more.values()), *_cells(facts)])
    return written.getvalue()


def _csv_of_groups(quote: Quote, groups: tuple[PlainLabel, ...], won: Winners | None) -> str:
    """Write a line for each group and winner; one without a winner where none is drawn, or the quorum won."""
    written, facts, at = io.StringIO(), flat_facts(quote), quote.accuracy.at
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["group", "rank", "winner", *(["at"] if at else []), *facts])
    cells = _cells(facts)
    for place, group in enumerate(groups):
        labels = () if won is None else won[place]
        drawn: list[tuple[int | None, PlainLabel | None]] = [*enumerate(labels, start=1)] or [(None, None)]
        for rank, label in drawn:
            which = [None if rank is None else exact_text(at[rank - 1])] if at else []
            rows.writerow([_cell(group), rank, None if label is None else _cell(label), *which, *cells])
    return written.getvalue()


def _cell(label: PlainLabel) -> str:
    text = label_text(label)
    return _harmless(text) if isinstance(label, str) and text else text


def _cells(facts: Mapping[str, str | int | None]) -> list[str | int | None]:
    return [
        _harmless(value) if name in NAMES_FROM_OUTSIDE and isinstance(value, str) else value
        for name, value in facts.items()
    ]


def _harmless(text: str) -> str:
    """Put an apostrophe before a formula, and write what a screen would obey by its number.

    >>> _harmless("=1+1"), _harmless("tea"), _harmless("'tis")
    ("'=1+1", 'tea', "'tis")
    """
    return visible(f"'{text}" if text.startswith(FORMULA_SIGNS) else text)
