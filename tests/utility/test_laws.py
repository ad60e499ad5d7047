"""dpselect.utility.laws and dpselect.utility.enclosed_laws: each probability is what it must be."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import mpmath  # type: ignore[import-untyped] # it comes without types
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Enclosure
from dpselect.utility import (
    SelectionLaw,
    enclosed_law,
    exponential_law,
    gumbel_law,
    laplace_law,
    side_by_side,
    top_k_law,
)
from dpselect.utility.worst_case import Noise
from tests.costs import calls
from tests.exact.laws import permute_and_flip, softmax
from tests.mechanisms.closed_forms import exponential_top_k, gumbel_top_k

Maker: TypeAlias = Callable[..., SelectionLaw]
NOISES: list[Noise] = ["exponential", "gumbel"]
LAW_OF = {"exponential": exponential_law, "gumbel": gumbel_law}
TABLES: list[Maker] = [exponential_law, gumbel_law, laplace_law]
SCALE = Fraction(3, 2)
few_scores = st.lists(st.integers(-20, 20), min_size=1, max_size=6)


def overlap(one: Enclosure, other: Enclosure) -> bool:
    return one.low <= other.high and other.low <= one.high


def scores_of(n: int, seed: int, spread: int) -> list[int]:
    dice = random.Random(seed)
    return [dice.randrange(spread) for _ in range(n)]


def total(parts: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(sum((p.low for p in parts), Fraction(0)), sum((p.high for p in parts), Fraction(0)))


def alike(some: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(one - other) < 1e-12 for one, other in zip(some, others, strict=True))


# Enclosures, beside formulas of another kind: sums over coins, and quadrature of 30 digits.


@pytest.mark.parametrize("scores", [[0], [2, 2], [5, 0, 1], [0, 0, 7, 7], [3, 1, 4, 1, 5], [40, 0, 0]])
def test_the_enclosed_law_of_one_winner_agrees_with_sums_over_coins(scores: list[int]) -> None:
    for noise, other in (("gumbel", softmax), ("exponential", permute_and_flip)):
        law = enclosed_law(scores, noise=noise, scale=SCALE)  # type: ignore[arg-type] # words
        for (i,), probability in law.items():
            assert overlap(probability, other(scores, SCALE)[i])
            assert probability.high - probability.low <= probability.high / 2**63


@pytest.mark.parametrize(
    ("scores", "k"),
    [
        ([0, -1, -2], 2),
        ([1, 1, 0], 2),
        ([0, 0, 0, -3], 2),
        pytest.param([4, 1, 1, 0], 3, marks=pytest.mark.slow),
    ],
)
def test_the_enclosed_law_of_several_winners_agrees_with_quadrature(scores: list[int], k: int) -> None:
    for noise, other in (("gumbel", gumbel_top_k), ("exponential", exponential_top_k)):
        law = enclosed_law(scores, noise=noise, scale=SCALE, k=k)  # type: ignore[arg-type] # words
        expected = other(scores, k, SCALE)
        assert law.keys() == expected.keys()
        assert all(overlap(law[order], expected[order]) for order in law)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scores", [[0, -1, -2, -2], [4, 1, 1, 0], [7, 0, 0, 0, 5]])
def test_whatever_comes_next_the_first_winners_have_their_law(noise: Noise, scores: list[int]) -> None:
    for k in range(1, len(scores)):
        law = enclosed_law(scores, noise=noise, scale=SCALE, k=k)
        longer = enclosed_law(scores, noise=noise, scale=SCALE, k=k + 1)
        for order, probability in law.items():
            parts = [part for other, part in longer.items() if other[:k] == order]
            assert overlap(probability, total(parts))


def test_the_published_example_of_one_shot_noise() -> None:
    """Scores 0, -1, -2 and two winners: 0.64042 with exponential noise, 0.48633 with Gumbel noise."""
    for noise, digits in (("exponential", 0.64042), ("gumbel", 0.48633)):
        low, high = enclosed_law([0, -1, -2], noise=noise, scale=1, k=2)[0, 1]  # type: ignore[arg-type] # words
        assert round(float(low), 5) == round(float(high), 5) == digits


@pytest.mark.parametrize("noise", NOISES)
@given(few_scores, st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_enclosed_probabilities_sum_to_one(noise: Noise, scores: list[int], k: int) -> None:
    law = enclosed_law(scores, noise=noise, scale=SCALE, k=min(k, len(scores)))
    assert sum(p.low for p in law.values()) <= 1 <= sum(p.high for p in law.values())


# One pass with floats.


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("n", "spread"), [(1, 1), (2, 3), (5, 10), (40, 5), (60, 40), (60, 300), (120, 1), (150, 8)]
)
def test_one_pass_is_within_1e_12_of_the_enclosures(noise: Noise, n: int, spread: int) -> None:
    scores = scores_of(n, n, spread)
    enclosed = enclosed_law(scores, noise=noise, scale=SCALE)
    law = LAW_OF[noise](scores, scale=SCALE)
    worst = max(
        max(abs(Fraction(law.probabilities[i]) - end) for end in enclosure)
        for (i,), enclosure in enclosed.items()
    )
    assert worst < Fraction(1, 10**12)


@pytest.mark.parametrize("make", TABLES)
@given(st.lists(st.integers(-30, 30), min_size=1, max_size=20), st.integers(-1000, 1000), st.randoms())
@settings(max_examples=20, deadline=None)
def test_shifting_changes_nothing_and_permuting_permutes(
    make: Maker, scores: list[int], shift: int, dice: random.Random
) -> None:
    law = make(scores, scale=SCALE)
    assert math.isclose(math.fsum(law.probabilities), 1, abs_tol=1e-12)
    assert make([score + shift for score in scores], scale=SCALE) == law
    order = list(range(len(scores)))
    dice.shuffle(order)
    permuted = make([scores[i] for i in order], scale=SCALE)
    assert alike(permuted.probabilities, [law.probabilities[i] for i in order])


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=30))
@settings(max_examples=50, deadline=None)
def test_exponential_noise_lies_between_gumbel_noise_and_half_its_scale(scores: list[int]) -> None:
    """McKenna & Sheldon 2020: in the order of likelihood ratios, hence of errors; at most twice as good."""
    gumbel, sharper = gumbel_law(scores, scale=1), gumbel_law(scores, scale="1/2")
    flip = exponential_law(scores, scale=1)
    slack = 1e-11
    assert sharper.expected_error <= flip.expected_error + slack
    assert flip.expected_error <= gumbel.expected_error + slack
    assert gumbel.expected_error <= 2 * flip.expected_error + slack


@pytest.mark.parametrize("make", TABLES)
def test_all_kinds_of_numbers_have_the_same_law(make: Maker) -> None:
    law = make([7, 4, 4, 0], scale="0.5")
    for kind in (np.int8, np.uint64, np.int64, np.float16, np.float32, np.float64, np.longdouble):
        assert make(np.array([7, 4, 4, 0], dtype=kind), scale="0.5") == law
    assert make([Fraction(7), Decimal(4), 4.0, 0], scale=Fraction(1, 2)) == law
    assert make((7.0, 4.0, 4.0, 0.0), scale=0.5) == law


@pytest.mark.parametrize("make", TABLES)
def test_extremes_neither_overflow_nor_vanish(make: Maker) -> None:
    top = 2**63 - 1
    near = np.array([top, top - 1, -(2**63)])
    assert alike(make(near, scale=1).probabilities[:2], make([1, 0], scale=1).probabilities)
    assert make(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), scale=1) == make([1, 0], scale=1)
    assert alike(make([1e308, -1e308], scale=1).probabilities, (1.0, 0.0))
    assert make([10**400, 10**400 - 1], scale=1) == make([1, 0], scale=1)
    assert make([1e308, -1e308], scale="1e300").probabilities[1] == 0.0
    ineligible = make([2.0, -math.inf, 1.0], scale=1)
    assert ineligible.probabilities[1] == 0
    assert alike(ineligible.probabilities[::2], make([1, 0], scale=1).probabilities)
    assert make([Fraction(2), -math.inf, 1], scale=1) == ineligible
    assert ineligible.expected_error < 1


@pytest.mark.parametrize("make", [exponential_law, gumbel_law])
def test_a_million_candidates_take_as_many_steps_as_a_thousand(make: Maker) -> None:
    scores = np.random.default_rng(7).normal(size=10**6) * 3
    law = make(scores, scale=1)
    assert math.isclose(math.fsum(law.probabilities), 1, abs_tol=1e-12)
    few, many = (calls(lambda n=n: make(scores[:n], scale=1)) for n in (10**3, 10**6))  # type: ignore[misc]
    assert many <= 2 * few


def test_a_million_ties_are_equally_likely() -> None:
    law = exponential_law(np.zeros(10**6), scale=1)
    assert math.isclose(law.probabilities[0], 1e-6, rel_tol=1e-12)


# Laplace noise, for comparison.


@pytest.mark.parametrize("gap", [0, 1, 4, 12, 40])
def test_two_candidates_with_laplace_noise_have_the_closed_form(gap: int) -> None:
    law = laplace_law([gap, 0], scale=1)
    assert abs(law.probability(1) - math.exp(-gap) * (2 + gap) / 4) < 1e-12


@pytest.mark.parametrize("gaps", [[0, 1, 3], [0, 0, 2, 5], [0, Fraction(1, 3), Fraction(1, 3), 9, 60]])
def test_laplace_noise_agrees_with_another_quadrature(gaps: list[Fraction]) -> None:
    def below(y: mpmath.mpf, gap: Fraction) -> mpmath.mpf:
        z = y + _mp(gap)
        return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

    def wins(i: int) -> mpmath.mpf:
        def density(y: mpmath.mpf) -> mpmath.mpf:
            others = mpmath.fprod(below(y, gap) for j, gap in enumerate(gaps) if j != i)
            return mpmath.exp(-abs(y + _mp(gaps[i]))) / 2 * others

        points = [-80, *sorted({-_mp(gap) for gap in gaps}), 5, 20, 80]
        return mpmath.quad(density, points)

    law = laplace_law([-gap for gap in gaps], scale=1)
    with mpmath.workdps(25):
        for i in range(len(gaps)):
            assert abs(law.probabilities[i] - wins(i)) < 1e-12


def _mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator


def test_many_rivals_with_laplace_noise_have_the_published_odds() -> None:
    """99 rivals 4 or 12 scales behind: fails 0.587 or 0.00137, the exponential mechanism 0.645 or 0.00061."""
    for gap, laplace, gumbel in ((4, 0.587, 0.645), (12, 0.00137, 0.00061)):
        scores = [gap, *[0] * 99]
        assert math.isclose(laplace_law(scores, scale=1).failure(0), laplace, rel_tol=5e-3)
        assert math.isclose(gumbel_law(scores, scale=1).failure(0), gumbel, rel_tol=5e-3)


def test_exponential_noise_is_the_best_of_four_in_the_lectures_election() -> None:
    """At a lead of 39 votes among 100 names, epsilon 1/2: fails 0.00288, and 0.00574 with Gumbel noise."""
    found = side_by_side([39, *[0] * 99], epsilon="1/2", range_sensitivity=2)
    exponential, gumbel, laplace, naive = (law.failure(0) for law in found.laws)
    assert (round(exponential, 5), round(gumbel, 5)) == (0.00288, 0.00574)
    assert exponential < gumbel < laplace < naive
    assert naive > 0.98
    assert [law.scale for law in found.laws] == [4, 4, 4, 200]


# The tables.


def test_a_law_is_a_value_with_a_table() -> None:
    law = gumbel_law([3, 2, 0], scale=1, outputs=["tea", "<coffee>", "cocoa"])
    assert law == gumbel_law([3, 2, 0], scale="1", outputs=("tea", "<coffee>", "cocoa"))
    assert hash(law) == hash(gumbel_law([3, 2, 0], scale=1, outputs=["tea", "<coffee>", "cocoa"]))
    assert repr(law).splitlines()[0] == "Gumbel noise, scale 1; public scores"
    assert "<td>&lt;coffee&gt;</td>" in law._repr_html_()
    assert law.failure(0) == law.probability("<coffee>") + law.probability("cocoa")
    assert law.failure(1) == law.probability("cocoa")
    assert math.isclose(law.expected_error, law.probability("<coffee>") + 3 * law.probability("cocoa"))
    with pytest.raises(InvalidParameter, match="output must be one of the outputs of this law; got 'milk'"):
        law.probability("milk")


def test_long_tables_are_cut_and_say_so() -> None:
    law = exponential_law(range_of(25), scale=1)
    assert repr(law).endswith("... and 15 more")
    assert law._repr_html_().endswith("... and 15 more</p></div>")
    found = side_by_side(range_of(25), epsilon=1)
    assert repr(found).endswith("... and 15 more")
    assert "exponential noise</th><th>Gumbel noise</th><th>Laplace noise</th><th>all scores released" in (
        found._repr_html_()
    )
    assert "epsilon 1; public scores" in repr(found)
    assert "more" not in repr(side_by_side([1, 0], epsilon=1))


def range_of(n: int) -> list[int]:
    return list(range(n))


def test_several_winners_are_a_table_too() -> None:
    law = top_k_law([9, 5, 0], noise="exponential", scale=2, k=2, outputs=["a", "b", "c"])
    assert math.isclose(math.fsum(law.probabilities), 1)
    assert dict(zip(law.outputs, law.behind, strict=True))["a", "b"] == 0
    assert dict(zip(law.outputs, law.behind, strict=True))["c", "a"] == 5
    assert "a, b" in repr(law)
    without = top_k_law([9.0, 5.0, -math.inf], noise="gumbel", scale=2, k=2)
    assert set(without.outputs) == {(0, 1), (1, 0)}


@pytest.mark.parametrize("make", TABLES)
def test_what_makes_no_sense_is_refused_in_a_sentence(make: Maker) -> None:
    for wrong, sentence in (
        (0, "scale must be a positive number; got 0."),
        ("1e-301", "scale must be from 1e-300 to 1e300 for a table of a law; got '1e-301'."),
    ):
        with pytest.raises(InvalidParameter, match=sentence):
            make([1, 0], scale=wrong)
    with pytest.raises(InvalidParameter, match=r"outputs must be 2, one for each score; got 3\."):
        make([1, 0], scale=1, outputs=["a", "b", "c"])
    with pytest.raises(InvalidParameter, match="outputs must differ from each other"):
        make([1, 0], scale=1, outputs=["a", "a"])
    for none_eligible in ([], np.array([]), [-math.inf, -math.inf], np.array([-math.inf])):
        with pytest.raises(
            InvalidParameter, match=r"public_scores must have a candidate that may win; got none\."
        ):
            make(none_eligible, scale=1)
    for no_scores in ([1, math.nan], [math.inf, 0], np.array([math.nan]), "12", [True, False]):
        with pytest.raises(OutsideDomain):
            make(no_scores, scale=1)


def test_too_much_to_enclose_is_refused() -> None:
    for scores, k in (([0] * 201, 1), (range_of(10), 5)):
        with pytest.raises(InvalidParameter, match="at most 5040 ordered outcomes and 200 candidates"):
            enclosed_law(scores, noise="gumbel", scale=1, k=k)
    with pytest.raises(InvalidParameter, match="at most 2000 different values"):
        laplace_law(range_of(2001), scale=1)
    with pytest.raises(InvalidParameter, match='noise must be "exponential" or "gumbel"'):
        enclosed_law([1, 0], noise="laplace", scale=1)  # type: ignore[arg-type] # that is the point
    with pytest.raises(InvalidParameter, match="k must be a whole number from 1 to 2"):
        enclosed_law([1, 0], noise="gumbel", scale=1, k=3)


def test_permutations_are_walked_in_full() -> None:
    law = enclosed_law([2, 1, 0, 0], noise="gumbel", scale=1, k=3)
    assert set(law) == set(itertools.permutations(range(4), 3))
