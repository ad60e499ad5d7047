"""The checks that accept our samplers reject wrong ones: a check that cannot fail says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact import partial_numbers, samplers, vector_samplers
from dpselect.exact.enclosures import Enclosure, log
from dpselect.exact.randomness import Randomness
from dpselect.exact.vector_samplers import SLACK
from tests.exact import laws
from tests.exact.adversary import Coin as AdversarialCoin
from tests.exact.adversary import Coins, check_filter, coins_around, curves, estimate, rational, scaled_exp
from tests.exact.laws import Coin, Curve, Numbers, Rejected, Walk, below
from tests.exact.mutants import arrays, races, values, words
from tests.exact.streams import words_of_8_threads, words_of_a_parent_and_four_children

pytestmark = pytest.mark.usefixtures("unmeasured")

TWO_THIRDS = Fraction(2, 3)
WRONG = r"^the probability of .+ is wrong$"
OPEN = r"^2\*\*-?[0-9.]+ stays open$"


# One value at a time.


@pytest.mark.parametrize(
    ("mutant", "complaint"),
    [
        (values.modulo, WRONG),
        (values.one_too_many, WRONG),
        (values.never_the_last, WRONG),
        (values.keeps_asking, OPEN),
    ],
)
def test_integers_that_are_not_uniform_are_rejected(
    mutant: Callable[[int, Randomness], int], complaint: str
) -> None:
    walk = Walk(16, Fraction(1, 2**8), width=8)
    laws.check_uniform(samplers.uniform_below, 10, walk)
    with pytest.raises(Rejected, match=complaint):
        laws.check_uniform(mutant, 10, walk)


@pytest.mark.parametrize("mutant", [values.by_float_division, values.inverted])
def test_a_coin_with_a_wrong_rational_probability_is_rejected(mutant: Coin) -> None:
    laws.check_bernoulli(samplers.bernoulli, TWO_THIRDS, below(60))
    with pytest.raises(Rejected, match=WRONG):
        laws.check_bernoulli(mutant, TWO_THIRDS, below(60))


@pytest.mark.parametrize(
    "mutant", [values.alternating_with_the_parity_flipped, values.alternating_off_by_one]
)
def test_a_coin_with_a_wrong_exponential_probability_is_rejected(mutant: Coin) -> None:
    walk = Walk(40, Fraction(1, 2**20))
    for right in (samplers.bernoulli_exp, values.alternating):
        laws.check_bernoulli_exp(right, TWO_THIRDS, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_bernoulli_exp(mutant, TWO_THIRDS, walk)


@pytest.mark.parametrize("x", [TWO_THIRDS, Fraction(6, 7), Fraction(12, 13)])
def test_a_float_shows_only_beyond_its_53_bits(x: Fraction) -> None:
    """Why what a coin may leave open is 2**-60, and not 2**-40."""
    laws.check_bernoulli_exp(values.by_float_exp, x, below(40))
    laws.check_bernoulli_exp(samplers.bernoulli_exp, x, below(60))
    with pytest.raises(Rejected, match=WRONG):
        laws.check_bernoulli_exp(values.by_float_exp, x, below(60))


def test_b1_a_careless_quotient_shows_only_where_factors_are_shared() -> None:
    """Why the points of the tests are such as 2/3 and 4/5, and not 1/2 and 1/3 alone."""
    walk = Walk(30, Fraction(1, 2**14))
    for simple in (Fraction(1), Fraction(1, 2), Fraction(1, 3)):
        laws.check_bernoulli_exp(values.alternating_with_a_careless_quotient, simple, walk)
    for shared in (Fraction(2, 3), Fraction(4, 5), Fraction(6, 7)):
        laws.check_bernoulli_exp(values.alternating, shared, walk)
        with pytest.raises(Rejected, match=WRONG):
            laws.check_bernoulli_exp(values.alternating_with_a_careless_quotient, shared, walk)


@pytest.mark.parametrize(
    ("mutant", "walk", "complaint"),
    [
        (values.drawn_anew, below(20), WRONG),
        (values.patient_up_to_53_bits, below(60), WRONG),
        (values.never_closer, below(14), OPEN),
    ],
)
def test_a_coin_that_is_refined_wrongly_is_rejected(
    mutant: Callable[[Curve, Randomness], bool], walk: Walk, complaint: str
) -> None:
    def p(precision: int) -> Enclosure:
        return log(2, precision)

    laws.check_bernoulli_enclosed(samplers.bernoulli_enclosed, p, walk)
    with pytest.raises(Rejected, match=complaint):
        laws.check_bernoulli_enclosed(mutant, p, walk)


@pytest.mark.parametrize("mutant", [values.from_zero, values.until_the_first_failure, values.by_scale])
def test_b4_a_waiting_time_with_a_wrong_parameter_is_rejected(
    mutant: Callable[[Fraction, Randomness], int],
) -> None:
    walk = Walk(28, Fraction(1, 2**12))
    for right in (samplers.geometric_trials, values.trial_by_trial):
        laws.check_geometric(right, TWO_THIRDS, walk)
    with pytest.raises(Rejected, match=rf"{WRONG}|{OPEN}"):
        laws.check_geometric(mutant, TWO_THIRDS, walk)


@pytest.mark.parametrize("mutant", [values.outward_without_the_mode, values.one_short])
def test_a_number_of_successes_that_leaves_something_out_is_rejected(
    mutant: Callable[[int, Fraction, Randomness], int],
) -> None:
    walk = Walk(24, Fraction(1, 2**12))
    for right in (samplers.binomial, values.outward_from_the_mode, values.one_at_a_time):
        laws.check_binomial(right, 4, TWO_THIRDS, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_binomial(mutant, 4, TWO_THIRDS, walk)


def test_a_discrete_laplace_with_two_zeros_is_rejected() -> None:
    walk = Walk(24, Fraction(1, 2**12))
    laws.check_discrete_laplace(samplers.discrete_laplace, TWO_THIRDS, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_discrete_laplace(values.with_two_zeros, TWO_THIRDS, walk)


@pytest.mark.parametrize("mutant", [values.without_an_end, values.one_place_short])
def test_a_geometric_law_that_is_cut_off_wrongly_is_rejected(
    mutant: Callable[[Fraction, int | None, Randomness], int],
) -> None:
    walk = Walk(16, Fraction(1, 2**8))
    laws.check_truncated_geometric(samplers.truncated_geometric, TWO_THIRDS, 4, walk)
    with pytest.raises(Rejected, match=rf"{WRONG}|{OPEN}"):
        laws.check_truncated_geometric(mutant, TWO_THIRDS, 4, walk)


@pytest.mark.parametrize("mutant", [values.with_any_place, values.with_a_later_place])
def test_a_biased_shuffle_is_rejected(mutant: Callable[[int, Randomness], Iterator[int]]) -> None:
    walk = below(10, spare=10)
    laws.check_permutation(samplers.permutation, 3, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_permutation(mutant, 3, walk)


# Partially sampled numbers.


@pytest.mark.parametrize(
    "mutant",
    [
        races.Impatient,
        races.Hasty,
        races.DrawnAnew,
        races.with_the_rate,
        races.the_least,
        partial_numbers.Gumbel,
    ],
)
def test_a_race_that_does_not_follow_permute_and_flip_is_rejected(mutant: Numbers) -> None:
    scores, scale = (1, 0), TWO_THIRDS
    walk = Walk(14, Fraction(1, 2**5))
    laws.check_argmax(partial_numbers.Exponential, scores, walk, scale=scale, law="permute_and_flip")
    with pytest.raises(Rejected, match=WRONG):
        laws.check_argmax(mutant, scores, walk, scale=scale, law="permute_and_flip")


def test_exponential_noise_does_not_follow_softmax() -> None:
    walk = Walk(14, Fraction(1, 2**5))
    laws.check_argmax(partial_numbers.Gumbel, (1, 0), walk, law="softmax")
    with pytest.raises(Rejected, match=WRONG):
        laws.check_argmax(partial_numbers.Exponential, (1, 0), walk, law="softmax")


# Arrays.


@pytest.mark.parametrize("mutant", [arrays.all_words_modulo, arrays.one_word_too_many])
def test_arrays_of_integers_that_are_not_uniform_are_rejected(
    mutant: Callable[[int, int, Randomness], NDArray[np.uint64]],
) -> None:
    walk = Walk(16, Fraction(1, 2**3), width=4)
    laws.check_uniforms_below(vector_samplers.uniforms_below, 5, 2, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_uniforms_below(mutant, 5, 2, walk)


@pytest.mark.parametrize(
    "mutant",
    [arrays.without_a_fallback, arrays.with_a_fallback_that_begins_anew, arrays.with_one_number_for_all],
)
def test_coins_that_do_not_fall_as_they_should_are_rejected(mutant: Coins) -> None:
    both = [scaled_exp(Fraction(4, 5), 1), rational(TWO_THIRDS)]
    estimates = [estimate(curve) for curve in both]
    walk = Walk(20, Fraction(1, 2**10), width=2)
    laws.check_bernoullis(vector_samplers.bernoullis, estimates, both, walk)
    with pytest.raises(Rejected, match=WRONG):
        laws.check_bernoullis(mutant, estimates, both, walk)


@pytest.fixture(scope="module")
def adversarial_coins() -> list[AdversarialCoin]:
    offsets = [0, *(2**k for k in range(0, 34, 2))]
    return [coin for curve in curves()[::25] for coin in coins_around(curve, offsets)]


@pytest.mark.parametrize(
    "mutant",
    [
        arrays.without_a_fallback,
        arrays.filter_with(0),
        arrays.filter_with(SLACK / 4),
        arrays.filter_with(-SLACK),
    ],
    ids=["no fallback", "no slack", "half the slack", "wrong sign"],
)
def test_a_filter_with_too_little_slack_is_rejected(
    mutant: Coins, adversarial_coins: list[AdversarialCoin]
) -> None:
    with pytest.raises(Rejected, match=r"^the filter decided wrongly$"):
        check_filter(mutant, adversarial_coins)


@pytest.mark.parametrize("right", [vector_samplers.bernoullis, arrays.filter_with(SLACK)])
def test_a_filter_with_slack_enough_is_accepted(
    right: Coins, adversarial_coins: list[AdversarialCoin]
) -> None:
    check_filter(right, adversarial_coins)


# Words.


def test_b6_a_source_that_forgets_the_fork_is_caught() -> None:
    drawn = words_of_a_parent_and_four_children(words.A_SHARED_GENERATOR)
    assert len(set(drawn)) == len(drawn) // 5


def test_b7_a_source_that_takes_a_word_in_two_steps_is_caught() -> None:
    drawn = words_of_8_threads(words.InTwoSteps(), each=2_000)
    assert len(set(drawn)) < len(drawn)
