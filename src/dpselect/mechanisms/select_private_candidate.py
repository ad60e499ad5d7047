"""Select from private candidates: run a private program until its score is good enough, or a coin says stop.

Reference: Liu & Talwar 2019, arXiv 1811.07971, Algorithm 1 and Theorem 3.1.
Proof:     select_private_candidate.proof.md
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

from dpselect.accounting.repetition import RepeatedProfile, log_odds_shift
from dpselect.errors import InvalidParameter, MayNeverEnd
from dpselect.exact.enclosures import enclose, exp
from dpselect.exact.numbers import Number, probability, rational, score, whole
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli
from dpselect.mechanisms.scored_outputs import candidates, ranked_draw
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import Approximate, Distance, MaxDivergence
from dpselect.privacy.profiles import PrivacyProfile

Iterations: TypeAlias = Literal["early", "hidden", "until_success"]
ITERATIONS: tuple[Iterations, ...] = ("early", "hidden", "until_success")

LEAST_EXCESS = Fraction(1, 2**128)
"""A cap that makes giving up more likely by less than this is priced as if by this much."""


def make_select_private_candidate(
    measurement: Measurement,
    stop_probability: Number,
    threshold: Any,
    max_iterations: int | None = None,
    *,
    iterations: Iterations = "early",
) -> Measurement:
    """Release the first (score, candidate) whose score is at least the threshold, or None if it gives up.

    After each run below the threshold it gives up with the stop probability, and at the latest after
    ``max_iterations`` runs.

    Precondition
        ``measurement`` is priced in max or approximate divergence                   checked here
        it releases tuples (score, candidate); the score is a real number            checked when drawn
        threshold and stop probability were chosen without looking at the data       claimed by the caller

    Postcondition
        The number of runs, if none reaches the threshold, is t with probability exactly
        stop_probability (1 - stop_probability)^(t-1), cut off at ``max_iterations``.
        ``"early"`` stops at the first success: an observer who counts or times the runs learns something
        about the data that the price does not cover. ``"hidden"`` draws the number of runs first, runs all of
        them and releases the first success: the same release, from a number of runs that does not depend on
        the data.
        ``"until_success"`` never gives up, takes stop probability 0 and no cap, and may never end.
        ``m.map(d_in)`` is epsilon + ln((e^epsilon + gamma) / (1 + gamma e^epsilon)), with a cap 2 epsilon +
        2 exp(-gamma max_iterations), or the corresponding bound in approximate divergence. It covers the
        release alone, not the number of runs beside it.

    Runtime
        at most 1 / stop_probability runs of ``measurement`` on average, never more than ``max_iterations``

    Utility
        If a single run reaches the threshold with probability p, the release is not None with probability
        p / (p + stop_probability (1 - p)), without ``max_iterations``.

    >>> from dpselect.exact.rounding import rounded_up
    >>> from dpselect.privacy import atom_domain, linf_distance, max_divergence, user_measurement
    >>> rounded = user_measurement(
    ...     input_domain=atom_domain(int),
    ...     input_metric=linf_distance(),
    ...     output_measure=max_divergence(),
    ...     function=lambda x: (1.0, "good enough"),
    ...     privacy_map=lambda d_in: d_in,
    ... )
    >>> m = make_select_private_candidate(rounded, "1/100", threshold=0.5)
    >>> m(7), rounded_up(m.map(1), 6)
    ((1.0, 'good enough'), '1.976853')
    """
    one = candidates(
        measurement, (MaxDivergence, Approximate), "max_divergence() or approximate(max_divergence())"
    )
    way = _way(iterations)
    coin = StopCoin(_stop_probability(stop_probability, way, one), _cap(max_iterations, way))
    coin.check()
    draw = SelectPrivateCandidate(one, coin, _threshold(threshold), way)
    if way == "until_success":
        warnings.warn(
            "iterations='until_success' may never end; with a stop probability a selection gives up.",
            MayNeverEnd,
            stacklevel=2,
        )
    return Measurement(one.input_domain, one.input_metric, one.output_measure, draw, CandidateMap(one, coin))


def _way(iterations: object) -> Iterations:
    for way in ITERATIONS:
        if isinstance(iterations, str) and iterations == way:
            return way
    raise InvalidParameter.must_be("iterations", '"early", "hidden" or "until_success"', got=iterations)


def _stop_probability(value: Number, way: Iterations, measurement: Measurement) -> Fraction:
    gamma = probability(value, "stop_probability")
    if way == "until_success":
        if gamma != 0:
            raise InvalidParameter.must_be(
                "stop_probability", "0 until success", got=value, way_out='Write iterations="early".'
            )
        if isinstance(measurement.output_measure, Approximate):
            raise InvalidParameter(
                "measurement must be priced in max_divergence() to run until success; got one with a delta. "
                "Without a stop probability nothing bounds how often it fails."
            )
    elif not 0 < gamma < 1:
        raise InvalidParameter.must_be(
            "stop_probability",
            "above 0 and below 1",
            got=value,
            way_out='It gives up after 1/stop_probability runs on average; "until_success" never does.',
        )
    return gamma


def _cap(max_iterations: object, way: Iterations) -> int | None:
    if max_iterations is None:
        return None
    if way == "until_success":
        raise InvalidParameter.must_be(
            "max_iterations", "None until success", got=max_iterations, way_out='Write iterations="early".'
        )
    return whole(max_iterations, "max_iterations", least=1)


def _threshold(value: object) -> Fraction:
    exact = rational(value, "threshold") if isinstance(value, Decimal) else score(value)
    if exact is None:
        raise InvalidParameter.must_be(
            "threshold", "a finite real number", got=value, way_out="It is read as scores are."
        )
    return exact


@dataclass(frozen=True)
class StopCoin:
    """The coin that is flipped after each run below the threshold: with probability gamma it says stop."""

    gamma: Fraction
    cap: int | None

    def check(self) -> None:
        """Refuse a cap so low that giving up there would tell the threshold was hard to reach."""
        if self.cap is None:
            return
        least = enclose(lambda gamma: 1 + (-1 - gamma.log()).exp(), self.gamma)
        if not self.cap >= least.high:
            raise InvalidParameter.must_be(
                "max_iterations",
                "at least 1 + 1/(e stop_probability)",
                got=self.cap,
                way_out=f"Give {math.ceil(least.high)} or more, or a larger stop probability.",
            )

    def runs(self, randomness: Randomness) -> int:
        """Flip until heads, or up to the cap; give the number of flips."""
        flips = 1
        while flips != self.cap:
            randomness.mark(flips)
            if bernoulli(self.gamma, randomness):
                break
            flips += 1
        return flips

    @property
    def mean(self) -> Fraction:
        """Bound what a delta is multiplied by."""
        return (1 + self.excess) / self.gamma

    def repetition_cost(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Bound what repetition adds to epsilon, if one run is (epsilon, delta)-private."""
        return log_odds_shift(self.gamma, epsilon, delta) + self.excess

    @cached_property
    def excess(self) -> Fraction:
        """Bound by how much, at most, a cap makes giving up more likely: exp(-gamma cap)."""
        return Fraction(0) if self.cap is None else max(LEAST_EXCESS, exp(-self.gamma * self.cap).high)


@dataclass(frozen=True)
class SelectPrivateCandidate:
    """Run until a score reaches the threshold, or the coin or the cap says stop."""

    measurement: Measurement
    coin: StopCoin
    threshold: Fraction
    iterations: Iterations

    may_give_up: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Draw."""
        if self.iterations == "hidden":
            return self._first_of_all(arg, randomness)
        return self._first(arg, randomness)

    def _first(self, arg: object, randomness: Randomness) -> Any:
        number = 1
        while True:
            randomness.mark(number)
            standing, release = ranked_draw(self.measurement, arg, randomness)
            if standing >= (0, self.threshold):
                return release
            if number == self.coin.cap or bernoulli(self.coin.gamma, randomness):
                return None
            number += 1

    def _first_of_all(self, arg: object, randomness: Randomness) -> Any:
        randomness.mark(())
        runs = self.coin.runs(randomness)
        first: Any = None
        for number in range(1, runs + 1):
            randomness.mark((runs, number, first))
            standing, release = ranked_draw(self.measurement, arg, randomness)
            if first is None and standing >= (0, self.threshold):
                first = release
        return first


@dataclass(frozen=True)
class CandidateMap:
    """What a selection from private candidates costs."""

    measurement: Measurement
    coin: StopCoin

    def __call__(self, d_in: Fraction) -> Distance:
        """Price neighbours at a distance of d_in."""
        one = self.measurement.map(d_in)
        match one:
            case PrivacyProfile():
                return PrivacyProfile(RepeatedProfile(one, self.coin))
            case Fraction() if one and self.coin.cap is not None:
                return enclose(lambda e, x: 2 * e + 2 * (-x).exp(), one, self.coin.gamma * self.coin.cap).high
            case Fraction():
                return one + log_odds_shift(self.coin.gamma, one, Fraction(0))
            case _:
                return math.inf
