"""The classroom's laws are those of the library, and what one vote changes lies within epsilon."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.studio.classroom import MOST_EPSILON, Lesson, log_ratio
from dpselect.studio.classroom_charts import laws_chart, ratio_chart
from dpselect.utility import exponential_law, gumbel_law, laplace_law

TEA_AND_SOUP = Lesson(("tea", "soup"), (Fraction(3), Fraction(2)), Fraction(1, 2), more=1)

lessons = st.builds(
    lambda votes, epsilon, more: Lesson(
        tuple(f"n{i}" for i in range(len(votes))), tuple(map(Fraction, votes)), epsilon, more % len(votes)
    ),
    st.lists(st.integers(0, 60), min_size=2, max_size=6),
    st.fractions(Fraction(1, 20), 4, max_denominator=50),
    st.integers(0, 5),
)


def test_the_laws_are_those_of_noise_whose_scale_is_one_by_epsilon() -> None:
    names = ["tea", "soup"]
    known = [law([3, 2], scale=2, outputs=names) for law in (exponential_law, gumbel_law, laplace_law)]
    assert [law.law for law in TEA_AND_SOUP.laws()] == known


@given(lessons)
def test_one_more_vote_changes_no_chance_by_more_than_epsilon_allows(lesson: Lesson) -> None:
    for before, after in zip(lesson.laws(), lesson.laws(neighbour=True), strict=True):
        ratios = [log_ratio(p, q) for p, q in zip(before.probabilities, after.probabilities, strict=True)]
        assert all(ratio is None or abs(ratio) <= lesson.epsilon + Fraction(1, 10**4) for ratio in ratios)
        assert math.fsum(after.probabilities) == pytest.approx(1)


def test_a_price_that_is_told_too_small_would_be_seen() -> None:
    """With noise for epsilon 1/2, the ratios do not fit into a band of 1/4."""
    law, after = TEA_AND_SOUP.laws()[0], TEA_AND_SOUP.laws(neighbour=True)[0]
    ratio = log_ratio(law.probabilities[1], after.probabilities[1])
    assert ratio is not None
    assert ratio > 0.25


@given(lessons)
def test_an_address_holds_the_whole_lesson(lesson: Lesson) -> None:
    assert Lesson.read(lesson.state) == lesson


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"epsilon": "0"}, "epsilon must be from 0.001 to 20"),
        ({"epsilon": str(MOST_EPSILON + 1)}, "epsilon must be from"),
        ({"epsilon": "many"}, "epsilon must be"),
        ({"name0": "tea", "votes0": "-1"}, "votes must be from 0"),
        ({"name0": "tea", "votes0": "1e12"}, "votes must be from 0"),
        ({"name0": "tea", "name1": "tea"}, "names must differ"),
        ({"name0": "t" * 41}, "at most 40 characters"),
        ({"name0": "", "votes0": "3"}, "a name must be given"),
        ({"more": "x"}, "more must be"),
    ],
)
def test_a_lesson_that_cannot_be_drawn_is_refused(fields: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidParameter, match=complaint):
        Lesson.read(fields)


def test_the_extra_vote_goes_to_the_row_that_was_chosen_whatever_rows_are_empty() -> None:
    fields = {"name0": "tea", "votes0": "1", "name2": "soup", "votes2": "1", "more": "2"}
    assert Lesson.read(fields).more == 1
    assert Lesson.read({**fields, "more": "1"}).more is None  # that row has no name


def test_both_pictures_say_what_the_laws_say() -> None:
    laws, ratios = laws_chart(TEA_AND_SOUP), ratio_chart(TEA_AND_SOUP)
    assert laws.says.startswith("tea wins in 69.7 % with permute-and-flip, 62.2 % with")
    assert ratios is not None
    assert "e to the power of 0.5" in ratios.says
    assert ratio_chart(Lesson(("a",), (Fraction(1),), Fraction(1))) is None


def test_facts_for_programs_hold_both_laws() -> None:
    facts: Any = TEA_AND_SOUP.facts()
    assert facts["one_more_vote_for"] == "soup"
    assert len(facts["laws"]) == len(facts["laws_with_one_more_vote"]) == 3


def test_long_names_beside_bars_keep_their_ends() -> None:
    names = ("a mechanism of a long name, 1", "a mechanism of a long name, 2")
    chart = laws_chart(Lesson(names, (Fraction(3), Fraction(2)), Fraction(1)))
    assert "a mecha…, 1</text>" in chart.picture
    assert "a mecha…, 2</text>" in chart.picture
