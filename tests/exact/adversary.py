"""Words and estimates chosen to mislead a float filter, and the check that none of them does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness
from dpselect.exact.vector_samplers import SLACK
from tests.exact.laws import Curve, Rejected

TOP = 2**64
Coins: TypeAlias = Callable[[NDArray[np.float64], Callable[[int], Curve], Randomness], NDArray[np.bool_]]


def scaled_exp(g: Fraction, j: int) -> Curve:
    """2**j exp(-g): how far a candidate lies below a dyadic envelope."""
    return lambda precision: Enclosure(*(2**j * end for end in enclosures.exp(-g, precision)))


def rational(p: Fraction) -> Curve:
    return lambda _: Enclosure(p, p)


def estimate(curve: Curve) -> float:
    return float(curve(80).low)


def curves() -> list[Curve]:
    """Probabilities of every size: 2**j exp(-g) between 1/2 and 1, exp(-g) down to 2**-70, and rationals."""
    fitting = [scaled_exp(Fraction(n, 7), math.floor(n / 7 / math.log(2))) for n in range(1, 400)]
    falling = [scaled_exp(Fraction(n, 3), 0) for n in range(1, 146)]
    dyadic = [rational(Fraction(n, 64)) for n in range(1, 64)]
    return [*fitting, *falling, *dyadic, rational(Fraction(2, 3)), rational(Fraction(1, 10**15))]


def permitted_estimates(curve: Curve) -> list[float]:
    """The estimate as it is, and as far off to either side as the filter's precondition permits."""
    off = Fraction(SLACK) / 2
    low, high = curve(200)
    too_high = math.nextafter(float(low + off), 0)
    too_low = math.nextafter(float(high - off), math.inf)
    for e in map(Fraction, (too_high, too_low)):
        assert max(abs(e - low), abs(e - high)) <= off
    return [estimate(curve), too_high, too_low]


@dataclass(frozen=True)
class Coin:
    """A probability, what a float takes it for, and four words; do they spell a number below it?"""

    curve: Curve
    estimate: float
    words: tuple[int, int, int, int]
    truth: bool


def is_below(words: Sequence[int], p: Enclosure) -> bool | None:
    """Compare the interval that the words leave open with p; say nothing if p lies inside."""
    spelt = sum(word * TOP ** (len(words) - 1 - place) for place, word in enumerate(words))
    unit = TOP ** len(words)
    if Fraction(spelt + 1, unit) <= p.low:
        return True
    return False if Fraction(spelt, unit) >= p.high else None


def coins_around(curve: Curve, offsets: Sequence[int]) -> Iterator[Coin]:
    """Give the words so far above and below p 2**64, each with every permitted estimate.

    They are followed by digits of p, the last of which is off by one: where the first word decides nothing,
    the fourth does.
    """
    p = curve(64 * 6)
    digits = math.floor(p.low * TOP**4)
    boundary, second, third, fourth = (digits // TOP**place % TOP for place in (3, 2, 1, 0))
    estimates = permitted_estimates(curve)
    for word in sorted({boundary + sign * offset for offset in offsets for sign in (-1, 1)}):
        if 0 <= word < TOP:
            words = (word, second, third, (fourth + (1 if word % 2 else -1)) % TOP)
            truth = is_below(words[:1], p)
            truth = is_below(words, p) if truth is None else truth
            assert truth is not None
            yield from (Coin(curve, e, words, truth) for e in estimates)


class Adversary:
    """Hands out the first word of every coin, then the later words of the coin that is looked at closely."""

    width = 64

    def __init__(self, coins: Sequence[Coin]) -> None:
        self.coins = coins
        self.looks = 0
        self._next = iter([coin.words[0] for coin in coins])
        self._later: Iterator[int] = iter(())

    def exactly(self, i: int) -> Curve:
        self.looks += 1
        self._later = iter(self.coins[i].words[1:])
        return self.coins[i].curve

    def word(self) -> int:
        return next(self._later)

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([next(self._next) for _ in range(n)], dtype=np.uint64)

    def mark(self, key: object) -> None:
        """Merge nothing."""


def check_filter(sampler: Coins, coins: Sequence[Coin]) -> int:
    """Have all coins drawn at once; reject a single wrong decision; say how many were looked at closely."""
    adversary = Adversary(coins)
    decided = sampler(np.array([coin.estimate for coin in coins]), adversary.exactly, adversary)
    for coin, verdict in zip(coins, decided, strict=True):
        if bool(verdict) != coin.truth:
            raise Rejected("the filter decided wrongly")
    return adversary.looks
