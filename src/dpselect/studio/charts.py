"""What a price buys, as two charts: the chance that the best one wins, and the accuracy against epsilon.

Both come from the question and the price alone: no data is read, and none is needed.

>>> from dpselect import counting
>>> question = PlannedQuestion(counting(100), "epsilon", 1, "0.99", "add_remove", "votes")
>>> chance_chart(question, Fraction(1, 4)).says
'A lead of 35 votes is enough: the best one wins with a chance of 99 % or more.'
>>> price_chart(question, Fraction(1, 4), left=Fraction(1, 2)).says
'At epsilon 0.25 within 34.01 votes of the best; at 0.5 within 17.01. 0.5 is left.'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.rounding import rounded_down, without_zeros, written_bound, written_number
from dpselect.studio.svg import (
    Piece,
    Plane,
    Point,
    area,
    box,
    chained,
    element,
    line,
    picture,
    round_ticks,
    tick_text,
)
from dpselect.utility.planned_question import PlannedQuestion
from dpselect.utility.promise import Accuracy

HALF_PRICE, DOUBLE_PRICE = Fraction(1, 2), Fraction(2)
STEPS_OF_A_LINE = 48
"""Points of a curve."""
ROWS_OF_LEADS = 6
"""Rows of the table beside a chart."""

FACTORS_OF_A_TABLE = (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))
"""The prices of the table beside the accuracy: half of the question's, itself, ..."""
PER_CENT = Fraction(100)
"""Per cent, of the probability 1."""
ALL_PER_CENT = [(Fraction(each), f"{each} %") for each in (0, 25, 50, 75, 100)]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A picture, what it says in a sentence, what its colours mean, and its numbers as a table."""

    title: str
    says: str
    picture: Piece
    legend: tuple[tuple[str, str], ...] = ()
    """A class of the style sheet, and what is drawn in it."""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def chance_chart(question: PlannedQuestion, price: Fraction) -> Chart | None:
    """Draw the chance that the best one wins against its lead, in the worst case; None without a best one.

    The band reaches from half the price to twice the price.
    """
    found = question.accuracy(price)
    if not found.within or found.target is not None or found.at:
        return None
    unit = _unit(question, found)
    last = question.accuracy(price * HALF_PRICE).within
    leads = [last * step / STEPS_OF_A_LINE for step in range(STEPS_OF_A_LINE + 1)]
    plane = Plane(336, 236, last, PER_CENT, left=46)
    curves = [
        [plane.at(lead, PER_CENT * question.chance(price * factor, lead)) for lead in leads]
        for factor in (HALF_PRICE, Fraction(1), DOUBLE_PRICE)
    ]
    enough = math.ceil(found.within / found.unit) * found.unit
    sure = f"{_per_cent(found.confidence)} %"
    who, win = ("the best one", "wins") if question.k == 1 else (f"the best {question.k}", "win")
    lead = f"{_lead_text(enough)} {unit}"
    says = f"A lead of {lead} is enough: {who} {win} with a chance of {sure} or more."
    over = "lead over the next one" if question.k == 1 else "lead over the rest"
    pieces = [
        plane.axes(f"{over} ({unit})", "", round_ticks(last, 6), ALL_PER_CENT),
        area([*curves[0], *reversed(curves[2])], "band"),
        line(curves[1], "curve"),
        _mark(plane.at(enough, PER_CENT * found.confidence), f"{_lead_text(enough)}: {sure}", below=20),
    ]
    title = "Will the best one win?" if question.k == 1 else "Will the best ones win?"
    rows = [last * step / ROWS_OF_LEADS for step in range(1, ROWS_OF_LEADS + 1)]
    whole = [math.ceil(each / found.unit) * found.unit for each in rows]
    return Chart(
        title=title,
        says=says,
        picture=picture("chance", title, says, plane.size, pieces),
        legend=(
            ("curve", "at this price, in the worst case"),
            ("band", "from half the price to double"),
        ),
        headings=(f"lead ({unit})", "half the price", "this price", "double"),
        rows=tuple(
            (
                _lead_text(each),
                *(_chance_text(question, price * factor, each) for factor in (HALF_PRICE, 1, DOUBLE_PRICE)),
            )
            for each in whole
        ),
    )


def price_chart(question: PlannedQuestion, price: Fraction, *, left: Fraction | None = None) -> Chart | None:
    """Draw the accuracy against the price on linear axes, grey beyond what is left; None without a choice."""
    found = question.accuracy(price)
    if not found.within:
        return None
    first, last, symbol = price * HALF_PRICE, price * 4, question.symbol
    high = question.accuracy(first).within
    plane = Plane(236, 236, last, high * Fraction(21, 20), left=44)
    steps = [first + (last - first) * step / STEPS_OF_A_LINE for step in range(STEPS_OF_A_LINE + 1)]
    pieces = []
    if left is not None and left < last:
        edge = plane.across(max(left, Fraction(0)))
        pieces.append(box(edge, plane.top, plane.end - edge, plane.floor - plane.top, "beyond"))
    unit = _unit(question, found)
    text = _bound(found.within)
    pieces += [
        plane.axes(symbol, "", round_ticks(last, 4), round_ticks(plane.y_high, 5)),
        line([plane.at(each, question.accuracy(each).within) for each in steps], "curve"),
        _mark(plane.at(price, found.within), text, below=-7),
    ]
    remains = "" if left is None else f" {written_number(left, rounded='down').text} is left."
    double = _bound(question.accuracy(price * 2).within)
    at = written_number(price * 2).text
    here = f"At {symbol} {written_number(price).text} {_within(question, found, text, unit)}"
    says = f"{here}; at {at} within {double}.{remains}"
    title = f"What {symbol} buys"
    legend = [("curve", f"at most how far off ({unit})")]
    if left is not None and left < last:
        legend.append(("beyond", "more than is left"))
    return Chart(
        title=title,
        says=says,
        picture=picture("accuracy", title, says, plane.size, pieces),
        legend=tuple(legend),
        headings=(symbol, f"within ({unit})", "can be paid"),
        rows=tuple(
            (
                written_number(price * each).text,
                _bound(question.accuracy(price * each).within),
                "" if left is None else ("yes" if price * each <= left else "no"),
            )
            for each in FACTORS_OF_A_TABLE
        ),
    )


def _within(question: PlannedQuestion, found: Accuracy, text: str, unit: str) -> str:
    """Say how close the answer is, in few words."""
    if found.at or found.target is not None:
        return f"within {text} {unit} of the rank"
    return f"within {text} {unit} of the best" if question.k == 1 else f"within {text} {unit}"


def _mark(place: Point, text: str, *, below: int) -> Piece:
    """Draw a dot and its figure, to the right of it: there a rising curve is above, a falling one below."""
    dot = element("circle", class_="dot", cx=place.x, cy=place.y, r=4.5)
    return chained(
        [dot, element("text", text, class_="figure", x=place.x + 8, y=place.y + below, text_anchor="start")]
    )


def _unit(question: PlannedQuestion, found: Accuracy) -> str:
    """Say what a score is a number of, so that it reads well behind a number."""
    unit = question.unit_of(found)
    return f"in {unit}" if unit == "revenue" else unit


def _chance_text(question: PlannedQuestion, price: Fraction, lead: Fraction) -> str:
    return f"{_per_cent(question.chance(price, lead))} %"


def _per_cent(share: Fraction) -> str:
    """Write a chance, rounded down; 99.9 is not 100."""
    places = 0 if share == 1 else 1
    while share < 1 and 100 * share > 100 - Fraction(10) ** -places and places < 6:
        places += 1
    return without_zeros(rounded_down(100 * share, places))


def _lead_text(lead: Fraction) -> str:
    return tick_text(lead)


def _bound(within: Fraction) -> str:
    return written_bound(within).text
