"""The charts say what the library says, are drawn without styles, and hold no markup of a label."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from dpselect import counting
from dpselect.problems import pricing, quantile
from dpselect.studio.charts import Chart, chance_chart, price_chart
from dpselect.studio.classroom import Lesson
from dpselect.studio.classroom_charts import laws_chart, ratio_chart
from dpselect.studio.ledger_chart import MOST_CHARGES_DRAWN, balance_chart, steps_chart
from dpselect.studio.svg import element, round_ticks
from dpselect.utility import accuracy, chance_of_best
from dpselect.utility.planned_question import PlannedQuestion

EVIL = '<script>alert(1)</script>"&\u202e'
QUARTER = Fraction(1, 4)


def planned(problem: object = None, k: int = 1) -> PlannedQuestion:
    asked = counting(100) if problem is None else problem
    return PlannedQuestion(asked, "epsilon", k, "0.99", "add_remove", "votes")  # type: ignore[arg-type]


def charts() -> list[Chart]:
    lesson = Lesson((EVIL, "b"), (Fraction(3), Fraction(2)), Fraction(1), more=1)
    found = [
        chance_chart(planned(), QUARTER),
        price_chart(planned(), QUARTER, left=Fraction(1, 2)),
        steps_chart([QUARTER, Fraction(1)], Fraction(4)),
        balance_chart(Fraction(4), Fraction(1), QUARTER),
        laws_chart(lesson),
        ratio_chart(lesson),
    ]
    return [chart for chart in found if chart is not None]


def tree(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.picture)  # noqa: S314 - a picture of ours


def places(chart: Chart, class_: str) -> list[tuple[float, float]]:
    """Read the points of a line or an area."""
    (found,) = [each for each in tree(chart).iter() if each.get("class") == class_]
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in found.get("points", "").split())]


def test_every_chart_is_well_formed_has_words_and_neither_styles_nor_scripts() -> None:
    assert len(charts()) == 6
    for chart in charts():
        drawn = tree(chart)
        names = {each.tag for each in drawn.iter()}
        assert names <= {"svg", "title", "desc", "text", "line", "polyline", "polygon", "rect", "circle"}
        attributes = {name for each in drawn.iter() for name in each.attrib}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert drawn.findtext("title") == chart.title
        assert drawn.findtext("desc") == chart.says.replace("\u202e", r"\u202e")


def test_f16_a_label_of_a_chart_is_text_whatever_it_holds() -> None:
    lesson = Lesson((EVIL, "b"), (Fraction(3), Fraction(2)), Fraction(1))
    drawn = laws_chart(lesson).picture
    assert "<script" not in drawn
    assert "\u202e" not in drawn
    assert "&lt;script&gt;" in drawn


def test_the_curve_is_the_exact_chance_between_half_and_double_the_price() -> None:
    chart = chance_chart(planned(), QUARTER)
    assert chart is not None
    curve, band = places(chart, "curve"), places(chart, "band")
    low, high = band[: len(curve)], band[len(curve) :][::-1]
    heights = [y for _, y in curve]
    assert heights == sorted(heights, reverse=True)  # the more lead, the higher: y counts from the top
    assert all(below[1] >= here[1] >= above[1] for below, here, above in zip(low, curve, high, strict=True))
    far = accuracy(counting(100), epsilon=QUARTER / 2).within
    for step in (0, 12, 48):
        chance = chance_of_best(counting(100), lead=far * step / 48, epsilon=QUARTER)
        top, floor = 14, 236 - 44
        assert curve[step][1] == pytest.approx(floor - float(chance) * (floor - top), abs=0.01)


def test_the_sentence_of_a_chart_names_a_lead_that_is_enough() -> None:
    chart = chance_chart(planned(), QUARTER)
    assert chart is not None
    lead = int(re.findall(r"lead of (\d+)", chart.says)[0])
    chances = [chance_of_best(counting(100), lead=each, epsilon=QUARTER) for each in (lead - 1, lead)]
    assert chances[0] < Fraction(99, 100) <= chances[1]


def test_prices_above_what_is_left_are_grey_and_cannot_be_paid() -> None:
    some = price_chart(planned(), QUARTER, left=Fraction(1, 2))
    plenty = price_chart(planned(), QUARTER, left=Fraction(4))
    assert some is not None
    assert plenty is not None
    assert ('class="beyond"' in some.picture, 'class="beyond"' in plenty.picture) == (True, False)
    assert [row[2] for row in some.rows] == ["yes", "yes", "yes", "yes", "no", "no"]
    assert {row[2] for row in plenty.rows} == {"yes"}


def test_a_question_of_ranks_has_no_chance_to_draw_and_one_without_a_choice_has_no_chart() -> None:
    median = quantile(value="pay", at="1/2", between=(0, 100))
    assert chance_chart(planned(median), QUARTER) is None
    assert price_chart(planned(median), QUARTER) is not None
    assert price_chart(planned(counting(1)), QUARTER) is None


def test_a_price_list_says_in_which_unit_it_is_off() -> None:
    asked = PlannedQuestion(
        pricing(value="offer", prices=["0.99", "1.99"]), "epsilon", 1, "0.99", "add_remove", None
    )
    chart = chance_chart(asked, QUARTER)
    assert chart is not None
    assert "in revenue" in chart.says


def test_many_charges_are_drawn_with_few_points_and_end_at_what_is_spent() -> None:
    totals = [Fraction(i, 10_000) for i in range(1, 10_001)]
    chart = steps_chart(totals, Fraction(2))
    assert len(places(chart, "curve")) <= 2 * MOST_CHARGES_DRAWN + 3
    assert places(chart, "curve")[-1] == (
        350 - 14,
        places(steps_chart([Fraction(1)], Fraction(2)), "curve")[-1][1],
    )
    assert chart.says == "10,000 charges: 1 of 2 is spent, 1 is left."


def test_a_question_above_the_budget_is_told_and_drawn_apart() -> None:
    chart = balance_chart(Fraction(1), Fraction(3, 4), Fraction(1, 2))
    assert chart.says == "This question costs 0.5; 0.25 of 1 is left."
    assert 'class="this over"' in chart.picture
    assert ("over", "this 0.5: only 0.25 is left") in chart.legend


@pytest.mark.parametrize("high", ["0.003", "0.7", "1", "9", "35", "68.02", "1234567"])
def test_ticks_are_few_round_numbers_up_to_the_end(high: str) -> None:
    end = Fraction(high)
    ticks = [value for value, _ in round_ticks(end, 5)]
    steps = {after - before for before, after in itertools.pairwise(ticks)}
    assert 2 <= len(ticks) <= 6
    assert len(steps) == 1
    assert ticks[-1] <= end < ticks[-1] + steps.pop()


def test_what_is_not_a_piece_of_a_picture_is_text() -> None:
    assert element("text", "<b>", element("i")) == "<text>&lt;b&gt;<i></i></text>"
