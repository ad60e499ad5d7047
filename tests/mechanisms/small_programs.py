"""Small private programs to select from: their laws are known, and so are the exact prices of one run."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.exact.enclosures import Ball, enclose, exp, log
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import uniform_below
from dpselect.mechanisms.repetition_counts import Count, Poisson
from dpselect.privacy import (
    Measurement,
    absolute_distance,
    approximate,
    atom_domain,
    max_divergence,
    renyi_divergence,
)
from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.measurement import Draw
from dpselect.privacy.measures import Distance, Measure
from dpselect.privacy.profiles import PrivacyProfile

Weights = tuple[int, ...]
Law = Sequence[Fraction]


@dataclass(frozen=True)
class Finite:
    """On the inputs 0 and 1, releases with whole-numbered weights, which add up to the same for both."""

    releases: tuple[Any, ...]
    weights: tuple[Weights, Weights]

    def __call__(self, arg: int, randomness: Randomness) -> Any:
        ends = itertools.accumulate(self.weights[arg])
        at = uniform_below(sum(self.weights[arg]), randomness)
        return next(release for release, end in zip(self.releases, ends, strict=True) if at < end)

    def law(self, arg: int) -> list[Fraction]:
        return [Fraction(weight, sum(self.weights[arg])) for weight in self.weights[arg]]


@dataclass(frozen=True)
class OneRun:
    """The exact price of one run, in any of three measures."""

    program: Finite
    measure: Measure

    def __call__(self, d_in: Fraction) -> Distance:
        p, q = self.program.law(0), self.program.law(1)
        if d_in == 0:
            p = q
        if self.measure == max_divergence():
            return max((log(max(a / b, b / a)).high for a, b in zip(p, q, strict=True) if a != b), default=0)
        if self.measure == renyi_divergence():
            return RenyiCurve(ExactRenyi(tuple(p), tuple(q)))
        return PrivacyProfile(ExactProfile(tuple(p), tuple(q)))


@dataclass(frozen=True)
class ExactRenyi:
    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def __call__(self, alpha: Fraction) -> Fraction:
        return renyi_between(self.p, self.q, alpha)


@dataclass(frozen=True)
class ExactProfile:
    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def __call__(self, epsilon: Fraction) -> Fraction:
        return hockey_stick(self.p, self.q, epsilon)


def renyi_between(p: Law, q: Law, alpha: Fraction) -> Fraction:
    """Bound the Rényi divergence from above, in the worse direction, to about 2**-64."""

    def one_way(ours: Law, theirs: Law) -> Fraction:
        def divergence(a: Ball) -> Ball:
            terms = (
                (a * _ball(x).log() + (1 - a) * _ball(y).log()).exp()
                for x, y in zip(ours, theirs, strict=True)
            )
            return sum(terms, Ball(0)).log() / (a - 1)

        return enclose(divergence, alpha).high

    return max(one_way(p, q), one_way(q, p)) if list(p) != list(q) else Fraction(0)


def _ball(x: Fraction) -> Ball:
    return Ball(x.numerator) / x.denominator


def hockey_stick(p: Law, q: Law, epsilon: Fraction) -> Fraction:
    """Bound delta at epsilon from above, in the worse direction, to about 2**-64."""
    factor = exp(min(epsilon, Fraction(1000))).low
    return max(
        sum((max(Fraction(0), a - factor * b) for a, b in zip(ours, theirs, strict=True)), Fraction(0))
        for ours, theirs in ((p, q), (q, p))
    )


def max_divergence_between(p: Law, q: Law) -> float:
    """The max-divergence, in the worse direction, as a float: rounded, for comparison only."""
    return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))


APPROXIMATE = approximate(max_divergence())


def program(
    releases: Sequence[Any], ours: Sequence[int], theirs: Sequence[int], measure: Measure | None = None
) -> Measurement:
    """Make a measurement of 0 or 1, which are a distance of 1 apart."""
    finite = Finite(tuple(releases), (tuple(ours), tuple(theirs)))
    currency = max_divergence() if measure is None else measure
    return Measurement(atom_domain(int), absolute_distance(), currency, finite, OneRun(finite, currency))


@dataclass(frozen=True)
class Released:
    """Releases always the same; counts nothing, draws nothing."""

    release: Any

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        del arg, randomness
        return self.release


@dataclass(frozen=True)
class Watched:
    """Runs as another does, and notes the number of each run."""

    function: Draw
    seen: list[int]

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        self.seen.append(len(self.seen) + 1)
        return self.function(arg, randomness)


def watched(measurement: Measurement, seen: list[int]) -> Measurement:
    """Let a program tell how often it runs, as no mechanism does."""
    return replace(measurement, function=Watched(measurement.function, seen))


@dataclass(frozen=True)
class Epsilon:
    """Costs so much for each unit of distance."""

    epsilon: Fraction = Fraction(1)

    def __call__(self, d_in: Fraction) -> Fraction:
        return self.epsilon * d_in


def always(release: Any, epsilon: Fraction = Fraction(1)) -> Measurement:
    """Make a measurement that releases always the same."""
    return Measurement(
        atom_domain(int), absolute_distance(), max_divergence(), Released(release), Epsilon(epsilon)
    )


def generating(count: Count, z: Fraction) -> Fraction:
    """E z^K by the closed form, to about 2**-200."""
    if isinstance(count, Poisson):
        return exp(count.mean * (z - 1), 200).high
    gamma, shape, rest = count.gamma, count.shape, 1 - (1 - count.gamma) * z
    if z in (0, 1):
        return z
    if shape == 0:
        return enclose(lambda r, g: r.log() / g.log(), rest, gamma, precision=200).high
    return enclose(
        lambda r, g, s: ((-s * r.log()).exp() - 1) / ((-s * g.log()).exp() - 1),
        rest,
        gamma,
        shape,
        precision=200,
    ).high


def best_of(count: Count, law: Law, ranks: Sequence[int]) -> list[Fraction]:
    """P(y) of the best of K runs, first to arrive among equals; at the end P(no run)."""
    best = []
    for mass, rank in zip(law, ranks, strict=True):
        below = sum((m for m, r in zip(law, ranks, strict=True) if r < rank), Fraction(0))
        equal = sum((m for m, r in zip(law, ranks, strict=True) if r == rank), Fraction(0))
        best.append((generating(count, below + equal) - generating(count, below)) * mass / (equal or 1))
    return [*best, generating(count, Fraction(0))]


def unmeasured() -> dict[str, str]:
    """Give the environment of a child that coverage leaves alone: measuring it takes its time."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}
