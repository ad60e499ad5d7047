"""What is spent: a bar of spent, this question and what is left; and the steps of a ledger, charge by charge.

>>> steps_chart([Fraction(1, 4), Fraction(1, 2)], Fraction(4)).says
'2 charges: 0.5 of 4 is spent, 3.5 is left.'
>>> balance_chart(Fraction(4), Fraction(1, 2), Fraction(1, 4)).says
'0.5 of 4 is spent, this question costs 0.25, then 3.25 is left.'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpselect.exact.rounding import written_number
from dpselect.studio.charts import Chart
from dpselect.studio.svg import Plane, area, box, line, picture, round_ticks

MOST_CHARGES_DRAWN = 400
"""A chart shows at most 400 steps; of more charges, totals at equal distances."""
BALANCE_WIDTH, BALANCE_HEIGHT = 320, 14
"""The size of the bar, in units of the picture."""


def steps_chart(totals: Sequence[Fraction], budget: Fraction, symbol: str = "epsilon") -> Chart:
    """Draw what was spent after each charge, in their order, below the line of the budget."""
    count = len(totals)
    spent = totals[-1] if totals else Fraction(0)
    plane = Plane(350, 190, Fraction(max(count, 1)), budget * Fraction(23, 20), left=50)
    stride = max(1, -(-count // MOST_CHARGES_DRAWN))
    shown = [(i, totals[i - 1]) for i in range(1, count + 1) if i % stride == 0 or i == count]
    corners, last = [plane.at(Fraction(0), Fraction(0))], Fraction(0)
    for number, total in shown:
        corners += [plane.at(last, total), plane.at(Fraction(number), total)]
        last = Fraction(number)
    ground = [plane.at(last, Fraction(0)), plane.at(Fraction(0), Fraction(0))]
    budget_line = [plane.at(Fraction(0), budget), plane.at(plane.x_high, budget)]
    plural = "1 charge" if count == 1 else f"{count:,} charges"
    left = budget - spent
    says = f"{plural}: {_up(spent)} of {_up(budget)} is spent, {_down(left)} is left."
    pieces = [
        plane.axes(
            "charges, in their order", symbol, _whole_ticks(plane.x_high), round_ticks(plane.y_high, 4)
        ),
        area([*corners, *ground], "band"),
        line(corners, "curve"),
        line(budget_line, "limit"),
    ]
    return Chart(
        title="What is spent",
        says=says,
        picture=picture("steps", "What is spent", says, plane.size, pieces),
        legend=(("curve", "spent so far"), ("limit", f"the budget, {symbol} {_up(budget)}")),
    )


def balance_chart(
    budget: Fraction, spent: Fraction, this: Fraction = Fraction(0), symbol: str = "epsilon"
) -> Chart:
    """Draw a bar: what is spent, what this question would cost, what would be left."""
    left = budget - spent - this
    scale = BALANCE_WIDTH / budget if budget else Fraction(0)
    first = float(min(spent * scale, Fraction(BALANCE_WIDTH)))
    second = float(min(this * scale, BALANCE_WIDTH - Fraction(first)))
    pieces = [
        box(0, 0, BALANCE_WIDTH, BALANCE_HEIGHT, "left"),
        box(0, 0, first, BALANCE_HEIGHT, "spent"),
        box(first, 0, second, BALANCE_HEIGHT, "this" if left >= 0 else "this over"),
    ]
    says = f"{_up(spent)} of {_up(budget)} is spent, {_down(left)} is left."
    legend = [("spent", f"spent {_up(spent)}"), ("left", f"left {_down(budget - spent)}")]
    if this and left >= 0:
        says = (
            f"{_up(spent)} of {_up(budget)} is spent, this question costs {_up(this)}, "
            f"then {_down(left)} is left."
        )
        legend = [legend[0], ("this", f"this {_up(this)}"), ("left", f"left {_down(left)}")]
    elif this:
        says = f"This question costs {_up(this)}; {_down(budget - spent)} of {_up(budget)} is left."
        legend = [legend[0], ("over", f"this {_up(this)}: only {_down(budget - spent)} is left")]
    title = f"Your budget, in {symbol}"
    return Chart(
        title=title,
        says=says,
        picture=picture("balance", title, says, (BALANCE_WIDTH, BALANCE_HEIGHT), pieces),
        legend=tuple(legend),
    )


def _whole_ticks(high: Fraction) -> list[tuple[Fraction, str]]:
    return [(value, text) for value, text in round_ticks(high, 6) if value.denominator == 1]


def _up(amount: Fraction) -> str:
    return written_number(amount).text


def _down(amount: Fraction) -> str:
    return written_number(amount, rounded="down").text
