"""The winners of releases follow the closed forms: by whole releases, from the table to the label."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import dpselect
from dpselect import Release, Scores, Table
from tests.exact.laws import permute_and_flip, softmax
from tests.statistics import rejects

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")

NAMES = ["pie", "soup", "tea"]
VOTES = [2, 1, 0]
OWN = dpselect.custom(candidates=NAMES, range_sensitivity=1)
DISH = dpselect.approval_voting(candidate="dish", candidates=NAMES)
TABLE = Table(pa.table({"voter": [1, 2, 2, 3], "dish": ["pie", "pie", "soup", None]}), unit="voter")
MANY, SOME, FEW = 4000, 1500, 30
"""Draws: the wrong scales below are missed less than once in a hundred thousand runs."""


def exponential(scale: Fraction) -> list[Fraction]:
    """Permute-and-flip, which is the noisy maximum with exponential noise (Ding et al. 2021)."""
    return [each.low for each in permute_and_flip(VOTES, scale)]


def gumbel(scale: Fraction) -> list[Fraction]:
    """The exponential mechanism, which is the noisy maximum with Gumbel noise."""
    return [each.low for each in softmax(VOTES, scale)]


def counts(draw: Callable[[], Release], times: int) -> list[int]:
    drawn = Counter(draw().label for _ in range(times))
    assert set(drawn) <= set(NAMES)
    return [drawn[name] for name in NAMES]


def test_an_epsilon_draws_with_exponential_noise_of_its_scale() -> None:
    drawn = counts(lambda: dpselect.select(OWN, Scores(VOTES), epsilon=1), MANY)
    assert not rejects(drawn, exponential(Fraction(1)))
    assert rejects(drawn, exponential(Fraction(3, 2)))
    assert rejects(drawn, exponential(Fraction(2, 3)))


def test_a_rho_draws_with_gumbel_noise_of_its_scale() -> None:
    drawn = counts(lambda: dpselect.select(OWN, Scores(VOTES), rho="1/8"), MANY)
    assert not rejects(drawn, gumbel(Fraction(1)))
    assert rejects(drawn, gumbel(Fraction(3, 2)))
    assert rejects(drawn, gumbel(Fraction(2, 3)))


def test_scores_that_come_in_chunks_have_the_same_law() -> None:
    chunks = Scores(lambda: iter([VOTES[:1], VOTES[1:]]))
    drawn = counts(lambda: dpselect.select(OWN, chunks, epsilon=1), SOME)
    assert not rejects(drawn, exponential(Fraction(1)))
    assert rejects(drawn, exponential(Fraction(2)))


def test_the_best_of_two_winners_is_drawn_at_the_scale_of_both() -> None:
    drawn = counts(lambda: dpselect.top_k(OWN, Scores(VOTES), k=2, epsilon=2), SOME)
    assert not rejects(drawn, exponential(Fraction(1)))
    assert rejects(drawn, exponential(Fraction(2)))


@pytest.mark.parametrize(
    ("budget", "law"), [({"epsilon": 2}, exponential), ({"rho": "1/2"}, gumbel)], ids=["epsilon", "rho"]
)
@pytest.mark.parametrize("times", [FEW, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_votes_of_a_table_are_drawn_from(
    budget: dict[str, Any], law: Callable[[Fraction], list[Fraction]], times: int
) -> None:
    drawn = counts(lambda: dpselect.select(DISH, TABLE, **budget), times)
    assert not rejects(drawn, law(Fraction(1, 2)))
    assert rejects(drawn, law(Fraction(1, 2))[::-1])
    if times > FEW:
        assert rejects(drawn, law(Fraction(1)))
        assert rejects(drawn, law(Fraction(1, 4)))
