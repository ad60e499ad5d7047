"""The laws of the mechanisms in closed form, and how a program of rounds is enumerated.

A sampler by rejection repeats one round until somebody is accepted. Rounds are independent and alike, so the
law of one round, walked to the end, gives the law of all: P(i) = p_i / (1 - p_again).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import mpmath  # type: ignore[import-untyped] # it comes without types
import numpy as np
from numpy.typing import NDArray

from dpselect.audit.enumeration import Law, enumerate_law
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness
from tests.exact.laws import Rejected, permute_and_flip, product, softmax

Score: TypeAlias = float | Fraction
Order: TypeAlias = tuple[int, ...]
Single: TypeAlias = Callable[[Sequence[Score], Fraction], list[Enclosure]]


class Again(BaseException):
    """A round has ended, and nobody was accepted."""


class OneRound:
    """Passes words on until a round ends: a sampler marks where each begins."""

    def __init__(self, source: Randomness) -> None:
        self.width = source.width
        self._source = source
        self._begun = 0

    def word(self) -> int:
        return self._source.word()

    def words(self, n: int) -> NDArray[np.uint64]:
        return self._source.words(n)

    def mark(self, key: Hashable) -> None:
        assert key == ()
        self._begun += 1
        if self._begun == 2:
            raise Again


def enumerate_rounds(
    program: Callable[[Randomness], int], depth: int, width: int = 1
) -> dict[int, Enclosure]:
    """Enclose the law of a program that repeats a round until somebody is accepted."""

    def one(source: Randomness) -> int | None:
        try:
            return program(OneRound(source))
        except Again:
            return None

    return of_rounds(enumerate_law(one, depth, width))


def of_rounds(law: Law[int | None]) -> dict[int, Enclosure]:
    """Enclose the law of rounds that are repeated while they give None."""
    again, rest = law.lower.get(None, Fraction(0)), law.unresolved
    return {
        i: Enclosure(low / (1 - again), (low + rest) / (1 - again - rest))
        for i, low in law.lower.items()
        if i is not None
    }


def check_rounds(found: Mapping[int, Enclosure], expected: Sequence[Enclosure], within: Fraction) -> None:
    """Accept only if every probability is enclosed, and closely."""
    for i, probability in enumerate(expected):
        low, high = found.get(i, Enclosure(Fraction(0), within))
        if not low <= probability.low <= probability.high <= high:
            raise Rejected(f"the probability of {i} is wrong")
        if not high - low <= within:
            raise Rejected(f"2**{math.log2(high - low):.1f} stays open")


def peeled(single: Single, scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """Draw one, remove it, draw again."""
    return {
        order: product(
            single([scores[i] for i in left], scale)[left.index(chosen)]
            for place, chosen in enumerate(order)
            for left in [[i for i in range(len(scores)) if i not in order[:place]]]
        )
        for order in itertools.permutations(range(len(scores)), k)
    }


def gumbel_top_k(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """Peeled softmax (Durfee and Rogers 2019, Lemma 4.2)."""
    return peeled(softmax, scores, k, scale)


def peeled_permute_and_flip(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    return peeled(permute_and_flip, scores, k, scale)


def exponential_top_k(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """The ordered k best of score + scale * Exp(1), by integrals over v = exp(-height).

    A candidate s is below v with probability max(0, 1 - v exp(s)); each integrand is a polynomial between
    the points exp(-s), so that Gauss-Legendre quadrature is exact but for rounding.
    """
    with mpmath.workdps(30):
        tops = [mpmath.exp(_mp(Fraction(score) / scale)) for score in scores]
        return {
            order: _around(_ordered(tops, order)) for order in itertools.permutations(range(len(scores)), k)
        }


def _mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def _ordered(tops: Sequence[mpmath.mpf], order: Order) -> mpmath.mpf:
    """Integrate over the height of the last of the order; the earlier ones are above it, in their order."""
    *earlier, last = order
    others = [top for i, top in enumerate(tops) if i not in order]

    def above(v: mpmath.mpf, chain: Sequence[int]) -> mpmath.mpf:
        """P(the chain is above v, in its order)."""
        if not chain:
            return mpmath.mpf(1)
        *before, lowest = chain
        points = _points(tops, min(v, 1 / tops[lowest]))
        return tops[lowest] * mpmath.quad(lambda u: above(u, before), points, maxdegree=3)

    def density(v: mpmath.mpf) -> mpmath.mpf:
        below = mpmath.fprod(max(mpmath.mpf(0), 1 - v * top) for top in others)
        return tops[last] * above(v, earlier) * below

    return mpmath.quad(density, _points(tops, 1 / tops[last]), maxdegree=3)


def _points(tops: Sequence[mpmath.mpf], end: mpmath.mpf) -> list[mpmath.mpf]:
    return [mpmath.mpf(0), *sorted({1 / top for top in tops if 1 / top < end}), end]


def _around(x: mpmath.mpf) -> Enclosure:
    exact, room = Fraction(*map(int, x.as_integer_ratio())), Fraction(1, 10**18)
    return Enclosure(max(Fraction(0), exact - room), exact + room)
