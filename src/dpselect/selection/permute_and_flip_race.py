"""Permute-and-flip as a race of coin tosses, without drawing a single time.

Each candidate tosses a coin of probability w at times of its own, at rate 1, and only its first toss counts.
Successes come at rate w: they are the accepted proposals of the envelope. Failures come at rate 1 - w and are
not simulated: whether a candidate failed before its first success is decided when it has one. That takes no
times either: the intervals between proposals are independent and exponential, and knowing that a failure fell
into one, or did not, changes its rate.

Proof: permute_and_flip_race.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple, cast

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness
from dpselect.exact.vector_samplers import SLACK, is_below
from dpselect.selection.envelope import Envelope


class Intervals(NamedTuple):
    """Some consecutive intervals of equal rate."""

    number: int
    """How many intervals."""
    rate: float
    """The rate of proposals, plus the rates of all failures that are known not to fall into these
    intervals."""
    failure_free: tuple[int, ...]
    """The candidates whose failures are known not to fall into these intervals."""


class PermuteAndFlipRace:
    """What is known of the failures in one race; asked about successes in the order of their proposals."""

    def __init__(self, envelope: Envelope, randomness: Randomness) -> None:
        """Begin with no interval."""
        self._envelope = envelope
        self._randomness = randomness
        self._step = 2.0**-randomness.width
        self._rate = envelope.float_rate
        self._largest_log_loss = math.log1p(1 / self._rate)
        self._intervals: list[Intervals] = []
        self._proposals_made = 0
        self._failed: set[int] = set()

    def failed_before(self, candidate: int, proposal_number: int) -> bool:
        """Say whether a candidate failed before this proposal, which is a success of it.

        If it did not, the candidate is the winner, and nothing more may be asked.
        """
        if candidate in self._failed:
            return True
        if proposal_number > self._proposals_made:
            self._intervals.append(Intervals(proposal_number - self._proposals_made, self._rate, ()))
            self._proposals_made = proposal_number
        word = self._randomness.word()
        total = self._proposals_made + len(self._failed)
        if (word + 1) * self._step + SLACK <= math.exp(-self._largest_log_loss * total):
            return False  # no candidate has a smaller probability of no failure
        if self._envelope.vector.is_tied(candidate, self._envelope.threshold.kth_best):
            return False
        failure_rate = -math.expm1(self._envelope.log_weight(candidate))
        uniform = Uniform.begun(word, self._randomness)

        def no_failure_in(intervals: list[Intervals]) -> bool:
            """Say whether the uniform number is below the probability of no failure in these intervals."""
            log_loss = 0.0
            for number, interval_rate, _ in intervals:
                log_loss += number * math.log1p(failure_rate / interval_rate)
            return is_below(
                uniform, math.exp(-log_loss), partial(self._no_failure_probability, candidate, intervals)
            )

        if no_failure_in(self._intervals):
            return False
        guess = self._guess(failure_rate, (word + 0.5) * self._step)
        intervals_before = last_true(lambda first: no_failure_in(self._first_intervals(first)), total, guess)
        self._record_failure(candidate, failure_rate, intervals_before)
        return True

    def _guess(self, failure_rate: float, probability: float) -> int:
        """Guess how many first intervals stay without a failure with more than a given probability."""
        remaining, total = -math.log(probability), 0
        for part in self._intervals:
            log_loss = math.log1p(failure_rate / part.rate)
            if not log_loss * part.number <= remaining:
                return total + int(remaining / log_loss) if log_loss > 0 else total
            remaining -= log_loss * part.number
            total += part.number
        return total

    def _first_intervals(self, total: int) -> list[Intervals]:
        """Give the first ``total`` intervals."""
        first = []
        for number, interval_rate, failure_free in self._intervals:
            here = min(total, number)
            total -= here
            if here:
                first.append(Intervals(here, interval_rate, failure_free))
        return first

    def _record_failure(self, candidate: int, failure_rate: float, intervals_before: int) -> None:
        """Let a failure split one interval in two; those before it are now known to have none."""
        updated, to_update = [], intervals_before + 1
        for number, interval_rate, failure_free in self._intervals:
            here = min(to_update, number)
            to_update -= here
            rest = number - here
            if here:
                updated.append(Intervals(here, interval_rate + failure_rate, (*failure_free, candidate)))
                rest += not to_update
            if rest:
                updated.append(Intervals(rest, interval_rate, failure_free))
        self._intervals = updated
        self._failed.add(candidate)

    def _no_failure_probability(
        self, candidate: int, intervals: list[Intervals], precision: int
    ) -> Enclosure:
        """Enclose the product of rate / (rate + 1 - w) over the intervals."""
        others = sorted({other for part in intervals for other in part.failure_free})
        gaps_in_scales = [
            cast("Fraction", self._envelope.exact_gap_in_scales(one)) for one in (candidate, *others)
        ]

        def product(proposal_rate: Ball, own: Ball, *of_others: Ball) -> Ball:
            failure_rates = {other: -(-x).expm1() for other, x in zip(others, of_others, strict=True)}
            probability = Ball(1)
            for part in intervals:
                rate = sum((failure_rates[other] for other in part.failure_free), proposal_rate)
                probability *= (rate / (rate - (-own).expm1())) ** part.number
            return probability

        return enclose(product, self._envelope.rate, *gaps_in_scales, precision=precision)


def last_true(holds: Callable[[int], bool], failing: int, guess: int) -> int:
    """Find the last number for which ``holds`` is true: it is for 0, and from some number on it is not.

    It is false for ``failing``. The guess is tried first, then bisection.
    """
    low, high = 0, failing
    likely = [guess + 1, guess]
    while high - low > 1:
        middle = likely.pop() if likely else (low + high) // 2
        if not low < middle < high:
            continue
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
