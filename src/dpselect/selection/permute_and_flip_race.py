"""Permute-and-flip as a race without a clock: whose tails came before the heads.

Everybody tosses a coin of its weight w at times of its own, at rate 1, and only the first toss counts. Heads
come at rate w: they are the points of a race. Tails come at rate 1 - w, unseen; whether one came before the
first point of a candidate is drawn when it matters. The times themselves are not drawn: between ticks lie
independent exponential spans, and tails that fall into a span, or do not, change what is known of its rate.

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
from dpselect.exact.vector_samplers import SLACK, lies_below
from dpselect.selection.envelope import Envelope


class Spans(NamedTuple):
    """So many spans of one rate: that of the ticks and of the tails that are known not to fall into them."""

    number: int
    rate: float
    without: tuple[int, ...]
    """The candidates whose tails do not fall into these spans."""


class Tails:
    """The unseen tails of one race; points are asked about in the order of their ticks."""

    def __init__(self, envelope: Envelope, randomness: Randomness) -> None:
        """Know nothing of any span."""
        self._envelope = envelope
        self._randomness = randomness
        self._step = 2.0**-randomness.width
        self._rate = envelope.float_rate
        self._most_lost = math.log1p(1 / self._rate)
        self._known: list[Spans] = []
        self._ticks = 0
        self._out: set[int] = set()

    def came_first(self, candidate: int, tick: int) -> bool:
        """Say whether tails of a candidate came before this tick, which is that of a point of it.

        If not, the candidate has arrived first, and nothing more may be asked.
        """
        if candidate in self._out:
            return True
        if tick > self._ticks:
            self._known.append(Spans(tick - self._ticks, self._rate, ()))
            self._ticks = tick
        word = self._randomness.word()
        count = self._ticks + len(self._out)
        if (word + 1) * self._step + SLACK <= math.exp(-self._most_lost * count):
            return False  # whoever it is, the chance is no smaller
        if self._envelope.field.is_level(candidate, self._envelope.lead.base):
            return False
        rate = -math.expm1(self._envelope.log_weight(candidate))
        uniform = Uniform.begun(word, self._randomness)

        def none_in(spans: list[Spans]) -> bool:
            """Say whether no tails fall into some first spans: the uniform number lies below that chance."""
            lost = 0.0
            for number, ticking, _ in spans:
                lost += number * math.log1p(rate / ticking)
            return lies_below(uniform, math.exp(-lost), partial(self._chance, candidate, spans))

        if none_in(self._known):
            return False
        guess = self._guess(rate, (word + 0.5) * self._step)
        before = last(lambda first: none_in(self._first(first)), count, guess)
        self._fall(candidate, rate, before)
        return True

    def _guess(self, rate: float, number: float) -> int:
        """Guess the most first spans into which no tails fall with a chance above a number."""
        left, count = -math.log(number), 0
        for some in self._known:
            lost = math.log1p(rate / some.rate)
            if not lost * some.number <= left:
                return count + int(left / lost) if lost > 0 else count
            left -= lost * some.number
            count += some.number
        return count

    def _first(self, count: int) -> list[Spans]:
        """Give the first so many spans."""
        first = []
        for number, rate, without in self._known:
            here = min(count, number)
            count -= here
            if here:
                first.append(Spans(here, rate, without))
        return first

    def _fall(self, candidate: int, rate: float, before: int) -> None:
        """Let tails fall into a span: it becomes two, and those before it are known to be without."""
        known, up_to_there = [], before + 1
        for number, ticking, without in self._known:
            here = min(up_to_there, number)
            up_to_there -= here
            rest = number - here
            if here:
                known.append(Spans(here, ticking + rate, (*without, candidate)))
                rest += not up_to_there
            if rest:
                known.append(Spans(rest, ticking, without))
        self._known = known
        self._out.add(candidate)

    def _chance(self, candidate: int, spans: list[Spans], precision: int) -> Enclosure:
        """Enclose the product of rate / (rate + 1 - w) over the spans."""
        others = sorted({other for some in spans for other in some.without})
        behind = [cast("Fraction", self._envelope.exactly_behind(one)) for one in (candidate, *others)]

        def product(ticking: Ball, own: Ball, *of_others: Ball) -> Ball:
            tails = {other: -(-x).expm1() for other, x in zip(others, of_others, strict=True)}
            chance = Ball(1)
            for some in spans:
                rate = sum((tails[other] for other in some.without), ticking)
                chance *= (rate / (rate - (-own).expm1())) ** some.number
            return chance

        return enclose(product, self._envelope.rate, *behind, precision=precision)


def last(holds: Callable[[int], bool], failing: int, guess: int) -> int:
    """Find the last number that something holds for: it does for zero, and stops before a failing one.

    The guess is tried first, then what is left is halved.
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
