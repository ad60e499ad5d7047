"""Pairs of laws that are as far apart as a guarantee allows, and their exact divergences as enclosures.

A pair is a function without arguments that lists (P(o), Q(o)) for every outcome o, as balls; it is called at
the precision of the moment. Nothing here uses a closed form of the library: divergences are sums over
outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import flint

from dpselect.exact.enclosures import Ball, Enclosure, enclose

Outcomes: TypeAlias = list[tuple[Ball, Ball]]
Pair: TypeAlias = Callable[[], Outcomes]

FINE = 160
"""Bits of the exact figures: more than those of what they check."""


def ball(x: Fraction | int) -> Ball:
    exact = Fraction(x)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def randomized_response(epsilon: Fraction, truth: Fraction | int = 0) -> Pair:
    """The worst pair of (epsilon, truth): the answer is given away with probability ``truth``."""

    def outcomes() -> Outcomes:
        most = (1 - ball(truth)) / (1 + (-ball(epsilon)).exp())
        least = 1 - ball(truth) - most
        given_away = [(ball(truth), ball(0)), (ball(0), ball(truth))] if truth else []
        return [(most, least), (least, most), *given_away]

    return outcomes


def window(eta: Fraction, top: Fraction) -> Pair:
    """Two outcomes whose losses are ``top`` and ``top - eta``."""

    def outcomes() -> Outcomes:
        e, t = ball(eta), ball(top)
        q = ((-t).exp() - (-e).exp()) / (1 - (-e).exp())
        return [(t.exp() * q, q), (1 - t.exp() * q, 1 - q)]

    return outcomes


def laplace_cells(shift: Fraction, cells: int, reach: int = 40) -> Pair:
    """Laplace noise of scale 1 at 0 and at ``shift``, told apart by the cell that it falls into."""
    edges = [shift * n / cells for n in range(cells + 1)]
    edges = [Fraction(-reach), *edges, shift + reach]

    def below(x: Fraction, centre: Fraction) -> Ball:
        gap = ball(x - centre)
        return gap.exp() / 2 if x < centre else 1 - (-gap).exp() / 2

    def outcomes() -> Outcomes:
        sides = []
        for centre in (Fraction(0), shift):
            marks = [ball(0), *(below(x, centre) for x in edges), ball(1)]
            sides.append([after - before for before, after in pairwise(marks)])
        return list(zip(*sides, strict=True))

    return outcomes


def product(*pairs: Pair) -> Pair:
    """Independent releases, one of each pair."""

    def outcomes() -> Outcomes:
        together: Outcomes = [(ball(1), ball(1))]
        for pair in pairs:
            together = [(p * a, q * b) for p, q in together for a, b in pair()]
        return together

    return outcomes


def adaptive(first: Pair, then: Sequence[Pair]) -> Pair:
    """A release, and a second one chosen by its outcome."""

    def outcomes() -> Outcomes:
        return [(p * a, q * b) for (p, q), pair in zip(first(), then, strict=True) for a, b in pair()]

    return outcomes


def renyi(pair: Pair, alpha: Fraction) -> Enclosure:
    """D_alpha(P || Q)."""

    def divergence(a: Ball) -> Ball:
        moment = sum((p**a * q ** (1 - a) for p, q in pair()), ball(0))
        return moment.log() / (a - 1)

    return enclose(divergence, alpha, precision=FINE)


def kullback_leibler(pair: Pair) -> Enclosure:
    return enclose(lambda: sum((p * (p / q).log() for p, q in pair()), ball(0)), precision=FINE)


def delta(pair: Pair, epsilon: Fraction) -> Enclosure:
    """The least delta at epsilon: the sum of the positive parts of P - exp(epsilon) Q."""

    def positive_parts(e: Ball) -> Ball:
        gaps = [p - e.exp() * q for p, q in pair()]
        return sum((gap for gap in gaps if not gap < 0), ball(0))

    return enclose(positive_parts, epsilon, precision=FINE)


def gaussian_delta(rho: Fraction, epsilon: Fraction) -> Enclosure:
    """The least delta at epsilon of Gaussian noise whose Rényi divergences are rho times the order.

    Balle & Wang 2018, Theorem 8: with mu = sqrt(2 rho) the distance of the centres in standard deviations.
    """

    def formula(r: Ball, e: Ball) -> Ball:
        mu = (2 * r).sqrt()

        def tail(x: Ball) -> Ball:
            return (x / ball(2).sqrt()).erfc() / 2

        return tail(e / mu - mu / 2) - e.exp() * tail(e / mu + mu / 2)

    return enclose(formula, rho, epsilon, precision=FINE)
