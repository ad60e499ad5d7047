"""Every sampler follows its law exactly: all paths through the random bits are walked.

The closed forms, and the checks that also bound what is left open, are in ``laws.py``. B1: the points are
rationals whose numerators share factors with small numbers, such as 2/3, 4/5, 6/7 and 9/10.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.samplers import (
    bernoulli,
    bernoulli_enclosed,
    bernoulli_exp,
    binomial,
    discrete_laplace,
    geometric_trials,
    is_below_exactly,
    permutation,
    truncated_geometric,
    uniform_below,
)
from tests.exact import laws
from tests.exact.laws import Walk, below
from tests.exact.sources import Given, untouchable

ALL_ONES = 2**64 - 1
ALMOST = Fraction(1, 2**24)
"""Boundaries so close to a dyadic number make every careless rounding show at 2**-28."""
PROBABILITIES = [
    Fraction(text) for text in ("1/2", "1/3", "2/3", "4/5", "6/7", "3/4", "12/13", "1/10", "9/10")
]


# Uniform integers. B2, B3: every value is reached, and none more often than another.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("n", [range(1, 33), range(33, 65)], ids=["to 32", "to 64"])
def test_b3_uniform_below_gives_every_integer_the_same_probability(n: range) -> None:
    for sides in n:
        laws.check_uniform(uniform_below, sides, below(40, spare=1 + sides.bit_length()))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_b3_uniform_below_is_uniform_in_words_of_any_width(width: int) -> None:
    for sides in (1, 2, 3, 5, 6, 7, 12, 16, 17, 24, 63, 64, 100):
        laws.check_uniform(uniform_below, sides, below(40, spare=15, width=width))


def test_uniform_below_one_draws_nothing() -> None:
    assert uniform_below(1, untouchable()) == 0


def test_uniform_below_takes_a_number_of_any_size() -> None:
    n = 10**100
    source = Given([ALL_ONES] * 6 + [0] * 6)
    assert 0 <= uniform_below(n, source) < n
    assert all(0 <= uniform_below(n, system()) < n for _ in range(100))


# Coins with a rational probability.


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_bernoulli_is_true_with_exactly_its_probability(width: int) -> None:
    for p in [*PROBABILITIES, Fraction(1, 10**30), Fraction(0.1)]:
        laws.check_bernoulli(bernoulli, p, below(60, spare=2 + width, width=width))


def test_bernoulli_ends_where_the_digits_of_its_probability_end() -> None:
    for p in (Fraction(1, 2), Fraction(5, 8), Fraction(1, 16), Fraction(15, 16)):
        laws.check_bernoulli(bernoulli, p, Walk(4, Fraction(1, 2**60)))


def test_a_sure_coin_draws_nothing() -> None:
    assert bernoulli(1, untouchable()) is True
    assert bernoulli(0, untouchable()) is False


# Coins with an enclosed probability.


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_bernoulli_enclosed_is_true_with_exactly_its_probability(width: int) -> None:
    for p in (
        lambda precision: enclosures.log(2, precision),
        lambda precision: enclosures.sqrt("1/2", precision),
        lambda precision: enclosures.tanh("1/1000", precision),
        lambda _: Enclosure(Fraction(2, 3), Fraction(2, 3)),
        lambda _: Enclosure(Fraction(5, 8), Fraction(5, 8)),
        lambda _: Enclosure(Fraction(0), Fraction(0)),
        lambda _: Enclosure(Fraction(1), Fraction(1)),
    ):
        laws.check_bernoulli_enclosed(bernoulli_enclosed, p, below(60, spare=2 + width, width=width))


@pytest.mark.parametrize("p", [Fraction(1, 2) - ALMOST, Fraction(3, 4) + ALMOST])
def test_bernoulli_enclosed_is_right_next_to_a_dyadic_number(p: Fraction) -> None:
    def enclose(precision: int) -> Enclosure:
        return Enclosure(p - p / 2 ** (precision + 1), p + p / 2 ** (precision + 1))

    laws.check_bernoulli_enclosed(bernoulli_enclosed, enclose, below(28, spare=4))


def test_bernoulli_enclosed_looks_closer_as_it_draws_more() -> None:
    """The first 40 words are those of the probability itself: only the 41st decides."""
    p = enclosures.log(2, 64 * 50)
    digits = [math.floor(p.low * 2 ** (64 * k)) % 2**64 for k in range(1, 42)]
    asked: list[int] = []

    def enclose(precision: int) -> Enclosure:
        asked.append(precision)
        return enclosures.log(2, precision)

    for step, verdict in ((-1, True), (1, False)):
        source = Given([*digits[:-1], digits[-1] + step])
        assert bernoulli_enclosed(enclose, source) is verdict
        assert source.drawn == 41
    assert max(asked) > 64 * 41
    assert asked == sorted(asked[: len(asked) // 2]) * 2


@pytest.mark.parametrize("spare", [0, 1, 8, 20])
def test_a_number_falls_below_a_probability_that_is_looked_at_with_few_bits_to_spare(spare: int) -> None:
    asked: list[tuple[int, int]] = []

    def coin(p: laws.Curve, source: Randomness) -> bool:
        number = Uniform(source)

        def noted(precision: int) -> Enclosure:
            asked.append((precision, number.bits))
            return p(precision)

        number.refine()
        return is_below_exactly(number, noted, spare)

    laws.check_bernoulli_enclosed(coin, lambda precision: enclosures.log(2, precision), below(40, spare=4))
    assert all(precision == bits + spare for precision, bits in asked)


# Coins with probability exp(-x).


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("denominators", [(1, 2, 3, 4, 5, 6), (7, 8), (9, 10), (11, 12)], ids=str)
def test_b1_bernoulli_exp_is_true_with_probability_exp_of_minus_x(denominators: tuple[int, ...]) -> None:
    for q in denominators:
        for p in range(3 * q + 1):
            laws.check_bernoulli_exp(bernoulli_exp, Fraction(p, q), below(60))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", [2, 3, 4])
def test_bernoulli_exp_follows_its_law_in_words_of_any_width(width: int) -> None:
    for x in ("2/3", "4/5", "6/7", "12/13", "5/6", "9/10", "37/24", "1e-9", "20"):
        laws.check_bernoulli_exp(bernoulli_exp, Fraction(x), below(60, spare=2 + width, width=width))


def test_a3_a_large_exponent_leaves_a_chance() -> None:
    """A float is zero from exp(-745.14) on; the 12 zero words here say U < 2**-768 < exp(-512)."""
    for x, words in [(37, 1), (512, 12), (513, 13), (746, 18), (1024, 24), (1025, 25)]:
        source = Given([0] * words)
        assert bernoulli_exp(x, source) is True
        assert source.drawn == words
        last = Given([0] * (words - 1) + [ALL_ONES])
        assert bernoulli_exp(x, last) is False


def test_a3_an_exponent_above_512_is_decided_by_two_independent_coins() -> None:
    """exp(-513) = exp(-512) exp(-1): each boundary is hit to the last of its bits."""

    def boundary(x: int, words: int) -> list[int]:
        low = enclosures.exp(-x, 64 * (words + 2)).low
        return [math.floor(low * 2 ** (64 * k)) % 2**64 for k in range(1, words + 1)]

    first, second = boundary(512, 14), boundary(1, 2)
    below_first, above_first = [*first[:-1], first[-1] - 1], [*first[:-1], first[-1] + 1]
    below_second, above_second = [second[0], second[1] - 1], [second[0], second[1] + 1]
    assert bernoulli_exp(513, Given(above_first)) is False
    assert bernoulli_exp(513, Given(below_first + above_second)) is False
    assert bernoulli_exp(513, Given(below_first + below_second)) is True


def test_a4_an_exponent_of_any_size_is_decided() -> None:
    for x in (10**4, 10**9, 10**400, Fraction(10**400, 3)):
        assert bernoulli_exp(x, system()) is False, "True as often as a guess of 14000 bits is right"


def test_exp_of_zero_draws_nothing() -> None:
    assert bernoulli_exp(0, untouchable()) is True


# Waiting times. B4: trials until the first success, each with probability p, not 1 - p.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("p", "depth"), [("1/2", 27), ("1/10", 29), ("9/10", 24), ("2/3", 27), ("4/5", 25), ("12/13", 24)]
)
def test_b4_geometric_counts_the_trials_until_the_first_success(p: str, depth: int) -> None:
    laws.check_geometric(geometric_trials, Fraction(p), Walk(depth, Fraction(1, 2**20)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("p", [Fraction(1, 2) - ALMOST, Fraction(3, 4) + ALMOST])
def test_geometric_is_right_where_its_boundaries_are_next_to_dyadic_numbers(p: Fraction) -> None:
    laws.check_geometric(geometric_trials, p, Walk(36, Fraction(1, 2**28)))


@pytest.mark.parametrize("width", [2, 3, 4])
def test_geometric_follows_its_law_in_words_of_any_width(width: int) -> None:
    laws.check_geometric(geometric_trials, Fraction(2, 3), Walk(27, Fraction(1, 2**16), width))


def test_geometric_with_a_tiny_probability_waits_long() -> None:
    """The median is ln(2) / p: half of U, and -ln(1 - p) is p up to p**2."""
    waited = geometric_trials(Fraction(1, 10**30), Given([2**63, 12345]))
    assert abs(Fraction(waited, 10**30) - Fraction(math.log(2))) < Fraction(1, 10**15)


def test_sure_success_comes_at_the_first_trial_and_draws_nothing() -> None:
    assert geometric_trials(1, untouchable()) == 1


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scale", "depth"), [("1/2", 26), ("2/3", 26), ("3", 28), ("1/100", 24)])
def test_discrete_laplace_falls_off_exponentially_on_both_sides(scale: str, depth: int) -> None:
    laws.check_discrete_laplace(discrete_laplace, Fraction(scale), Walk(depth, Fraction(1, 2**20)))


@pytest.mark.parametrize("width", [2, 3, 4])
def test_discrete_laplace_follows_its_law_in_words_of_any_width(width: int) -> None:
    laws.check_discrete_laplace(discrete_laplace, Fraction(4, 5), Walk(22, Fraction(1, 2**12), width))


def test_truncated_geometric_of_one_place_draws_nothing() -> None:
    assert truncated_geometric(Fraction(1), 1, untouchable()) == 0


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("count", [2, 3, 7, None])
@pytest.mark.parametrize("decay", ["2/3", "1/20", "6"])
def test_truncated_geometric_falls_off_exponentially_up_to_its_end(decay: str, count: int | None) -> None:
    walk = Walk(20, Fraction(1, 2**8 if decay == "1/20" and count is None else 2**13))
    laws.check_truncated_geometric(truncated_geometric, Fraction(decay), count, walk)


@pytest.mark.parametrize("width", [2, 3, 4])
def test_truncated_geometric_follows_its_law_in_words_of_any_width(width: int) -> None:
    laws.check_truncated_geometric(truncated_geometric, Fraction(4, 5), 5, Walk(16, Fraction(1, 2**7), width))


def test_truncated_geometric_of_a_tiny_decay_is_nearly_uniform_and_loses_no_bit() -> None:
    """With d c = 2**-10, k = c u (1 + (1 - u) d c / 2) up to (d c)**2: here at u = 1/2."""
    place = truncated_geometric(Fraction(1, 2**80), 2**70, Given([2**63, 12345]))
    expected = Fraction(1, 2) - Fraction(1, 2**10) / 8
    assert abs(Fraction(place, 2**70) - expected) < Fraction(1, 2**20)


@pytest.mark.parametrize("count", [3, None])
def test_truncated_geometric_waits_while_all_of_its_bits_are_ones(count: int | None) -> None:
    source = Given([ALL_ONES, 0])
    place = truncated_geometric(Fraction(1), count, source)
    assert (place, source.drawn) == ((2, 1) if count else (44, 2))


# Numbers of successes.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("p", ["1/2", "2/3", "1/10", "12/13"])
def test_binomial_counts_the_successes_among_n_trials(p: str) -> None:
    for n in (1, 2, 5, 12):
        laws.check_binomial(binomial, n, Fraction(p), Walk(22, Fraction(1, 2**16)))


@pytest.mark.parametrize("p", [Fraction(1, 2) - ALMOST, Fraction(1, 2) + ALMOST])
def test_binomial_is_right_where_its_boundaries_are_next_to_dyadic_numbers(p: Fraction) -> None:
    for n in (1, 2, 3):
        laws.check_binomial(binomial, n, p, Walk(34, Fraction(1, 2**28)))


@pytest.mark.parametrize("width", [2, 3, 4])
def test_binomial_follows_its_law_in_words_of_any_width(width: int) -> None:
    laws.check_binomial(binomial, 6, Fraction(4, 5), Walk(22, Fraction(1, 2**14), width))


@pytest.mark.parametrize(("n", "mean"), [(1000, 1), (10**8, "1/10"), (10**8, 2), (10**30, 1)], ids=str)
def test_binomial_of_many_trials_with_a_small_mean_follows_its_law(n: int, mean: int | str) -> None:
    laws.check_binomial(binomial, n, Fraction(mean) / n, Walk(22, Fraction(1, 2**16)))


def test_binomial_of_many_trials_lies_near_its_mean() -> None:
    """Within 8 standard deviations: Hoeffding's bound on being further away is 2 exp(-128)."""
    for _ in range(3):
        assert abs(binomial(10**6, "1/2", system()) - 5 * 10**5) <= 8 * 500
        assert abs(binomial(10**8, 1 - Fraction(1, 10**8), system()) - 10**8) <= 100


def test_binomial_without_chance_draws_nothing() -> None:
    for n in (0, 7, 10**30):
        assert binomial(n, 0, untouchable()) == 0
        assert binomial(n, 1, untouchable()) == n
    assert binomial(0, "1/3", untouchable()) == 0


# Orders.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_permutation_gives_every_order_the_same_probability(n: int) -> None:
    laws.check_permutation(permutation, n, below(40, spare=12))


@pytest.mark.parametrize("width", [2, 3, 4])
def test_permutation_follows_its_law_in_words_of_any_width(width: int) -> None:
    laws.check_permutation(permutation, 4, below(40, spare=12, width=width))


def test_permutation_draws_each_index_when_it_is_asked_for() -> None:
    source = Given(range(100))
    order = permutation(10**9, source)
    assert source.drawn == 0
    first = next(order)
    assert source.drawn == 1
    second = next(order)
    assert source.drawn == 2
    assert first != second


def test_permutation_of_many_is_a_permutation() -> None:
    assert sorted(permutation(5000, system())) == list(range(5000))
