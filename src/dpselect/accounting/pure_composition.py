"""The optimal composition of pure privacy: the profile of many releases, each with an epsilon of its own.

The worst releases are randomized responses: delta is a sum over the number of lies among them, computed term
by term. It is for few different epsilons: n releases of each of m epsilons make (n + 1)**m terms.

Reference: Kairouz, Oh & Viswanath 2015, Theorem 3.3.
Proof:     pure_composition.proof.md
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.bisection import bisect
from dpselect.exact.enclosures import Ball, enclose

MOST_TERMS = 1024
"""A sum of more than 1024 terms is not computed; the Rényi curve bounds delta instead."""

_BITS = 32
"""An epsilon is at most a relative 2**-32 above the least one."""


@dataclass(frozen=True)
class PureCompositionProfile:
    """The privacy profile of releases that are given as pairs (epsilon, how many of them).

    >>> hundred = PureCompositionProfile(((Fraction(1, 10), 100),))
    >>> round(float(hundred.epsilon(Fraction(1, 10**6))), 4), hundred.epsilon(Fraction(0))
    (4.7746, Fraction(10, 1))
    """

    runs: tuple[tuple[Fraction, int], ...]

    @property
    def terms(self) -> int:
        """The number of terms of the sum."""
        return math.prod(n + 1 for _, n in self.runs)

    @property
    def pure(self) -> Fraction:
        """The price without a delta."""
        return sum((n * epsilon for epsilon, n in self.runs), Fraction(0))

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        above = {loss: ways for loss, ways in self._losses().items() if loss > epsilon}
        if not above:
            return Fraction(0)
        lies = [(self.pure - loss) / 2 for loss in above]
        excesses = [epsilon - loss for loss in above]

        def delta(*numbers: Ball) -> Ball:
            balls = iter(numbers)
            chances = [(-ball).exp() for ball in itertools.islice(balls, len(above))]
            parts = [-ball.expm1() for ball in itertools.islice(balls, len(above))]
            total = sum(
                (ways * p * part for ways, p, part in zip(above.values(), chances, parts, strict=True)),
                Ball(0),
            )
            for one, (_, n) in zip(balls, self.runs, strict=True):
                total /= (1 + (-one).exp()) ** n
            return total

        return min(Fraction(1), enclose(delta, *lies, *excesses, *(one for one, _ in self.runs)).high)

    def _losses(self) -> Counter[Fraction]:
        """Count the ways to each privacy loss: of n answers with epsilon, i are lies."""
        found: Counter[Fraction] = Counter()
        for lies in itertools.product(*(range(n + 1) for _, n in self.runs)):
            loss = sum((one * (n - 2 * i) for (one, n), i in zip(self.runs, lies, strict=True)), Fraction(0))
            found[loss] += math.prod(math.comb(n, i) for (_, n), i in zip(self.runs, lies, strict=True))
        return found

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse, by bisection."""
        if self(Fraction(0)) <= delta:
            return Fraction(0)
        if delta == 0:
            return self.pure
        return bisect(lambda e: self(e) <= delta, fails=Fraction(0), holds=self.pure, bits=_BITS).holds
