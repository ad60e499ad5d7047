"""The laws of the samplers in closed form, and what an enumerated program must pass to be called theirs.

Each check walks every path of a program and asks two things of what was proved: that the closed form lies
in it, as an enclosure and for every value; and that what is left open is below a bound, for a program that
never ends leaves everything open and contradicts nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.audit import enumerate_law
from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.partial_numbers import PartialNumber
from dpselect.exact.randomness import Randomness

Value = TypeVar("Value", bound=Hashable)
Coin: TypeAlias = Callable[[Fraction, Randomness], bool]
Curve: TypeAlias = Callable[[int], Enclosure]
Numbers: TypeAlias = Callable[[float | Fraction, Fraction, Randomness], PartialNumber]

PRECISION = 512
"""Of the closed forms: far finer than any enumeration here can tell."""

NEVER = Enclosure(Fraction(0), Fraction(0))


class Rejected(AssertionError):
    """The program does not follow the law, or is not known to end."""


@dataclass(frozen=True)
class Walk:
    """How far to walk, in words of how many bits, and how much may stay open."""

    depth: int
    below: Fraction
    width: int = 1


def below(exponent: int, *, spare: int = 2, width: int = 1) -> Walk:
    """Leave less than 2**-exponent open, at a depth of ``spare`` bits more."""
    return Walk(exponent + spare, Fraction(1, 2**exponent), width)


def check(
    program: Callable[[Randomness], Value],
    probability: Callable[[Value], Enclosure],
    values: Iterable[Value],
    walk: Walk,
) -> None:
    """Accept the program only if it gives the values, and all that it gives, with their probabilities."""
    law = enumerate_law(program, walk.depth, walk.width)
    if not law.unresolved < walk.below:
        raise Rejected(f"2**{math.log2(law.unresolved):.1f} stays open")
    for value in {*values, *law.lower}:
        if not law.allows(value, *probability(value)):
            raise Rejected(f"the probability of {value!r} is wrong")


def exactly(probability: Fraction) -> Enclosure:
    return Enclosure(probability, probability)


def product(factors: Iterable[Enclosure]) -> Enclosure:
    """Multiply numbers that are not negative."""
    low, high = Fraction(1), Fraction(1)
    for factor in factors:
        low, high = low * factor.low, high * factor.high
    return Enclosure(low, high)


def complement(probability: Enclosure) -> Enclosure:
    return Enclosure(1 - probability.high, 1 - probability.low)


def of_a_coin(heads: Enclosure) -> Callable[[bool], Enclosure]:
    return lambda value: heads if value else complement(heads)


# The samplers of one value.


def check_uniform(sampler: Callable[[int, Randomness], int], n: int, walk: Walk) -> None:
    each = exactly(Fraction(1, n))
    check(lambda source: sampler(n, source), lambda i: each if 0 <= i < n else NEVER, range(n), walk)


def check_bernoulli(sampler: Coin, p: Fraction, walk: Walk) -> None:
    check(lambda source: sampler(p, source), of_a_coin(exactly(p)), [False, True], walk)


def check_bernoulli_exp(sampler: Coin, x: Fraction, walk: Walk) -> None:
    check(lambda source: sampler(x, source), of_a_coin(exp(-x, PRECISION)), [False, True], walk)


def check_bernoulli_enclosed(sampler: Callable[[Curve, Randomness], bool], p: Curve, walk: Walk) -> None:
    check(lambda source: sampler(p, source), of_a_coin(p(PRECISION)), [False, True], walk)


def check_geometric(sampler: Callable[[Fraction, Randomness], int], p: Fraction, walk: Walk) -> None:
    """P(t) = p (1 - p)**(t - 1), for t = 1, 2, ..."""

    def probability(trials: int) -> Enclosure:
        return exactly(p * (1 - p) ** (trials - 1)) if trials >= 1 else NEVER

    check(lambda source: sampler(p, source), probability, range(50), walk)


def check_binomial(
    sampler: Callable[[int, Fraction, Randomness], int], n: int, p: Fraction, walk: Walk
) -> None:
    """P(k) = C(n, k) p**k (1 - p)**(n - k)."""

    def failures(k: int) -> Enclosure:
        if n - k <= 1000:
            return exactly((1 - p) ** (n - k))
        return enclose(lambda fail, times: fail**times, 1 - p, Fraction(n - k), precision=PRECISION)

    def probability(k: int) -> Enclosure:
        return product([exactly(math.comb(n, k) * p**k), failures(k)]) if 0 <= k <= n else NEVER

    check(lambda source: sampler(n, p, source), probability, range(min(n, 50) + 1), walk)


def check_discrete_laplace(
    sampler: Callable[[Fraction, Randomness], int], scale: Fraction, walk: Walk
) -> None:
    """P(z) = (1 - q) / (1 + q) q**abs(z), where q = exp(-1 / scale)."""

    def mass(steps: Ball, spread: Ball) -> Ball:
        q = (-1 / spread).exp()
        return (1 - q) / (1 + q) * (-steps / spread).exp()

    def probability(z: int) -> Enclosure:
        return enclose(mass, Fraction(abs(z)), scale, precision=PRECISION)

    check(lambda source: sampler(scale, source), probability, range(-20, 21), walk)


def check_truncated_geometric(
    sampler: Callable[[Fraction, int | None, Randomness], int], decay: Fraction, count: int | None, walk: Walk
) -> None:
    """P(k) is proportional to exp(-k * decay), for k = 0, 1, ..., count - 1, or without end."""

    def mass(k: Ball, d: Ball) -> Ball:
        rest = 1 if count is None else 1 - (-d * count).exp()
        return (-k * d).exp() * (1 - (-d).exp()) / rest

    def probability(k: int) -> Enclosure:
        if k < 0 or (count is not None and k >= count):
            return NEVER
        return enclose(mass, Fraction(k), decay, precision=PRECISION)

    check(lambda source: sampler(decay, count, source), probability, range(min(count or 50, 50)), walk)


def check_permutation(sampler: Callable[[int, Randomness], Iterator[int]], n: int, walk: Walk) -> None:
    """Every order has probability 1 / n!."""

    def program(source: Randomness) -> tuple[int, ...]:
        picks: tuple[int, ...] = ()
        source.mark(picks)
        for index in sampler(n, source):
            picks += (index,)
            source.mark(picks)
        return picks

    orders = set(itertools.permutations(range(n)))
    each = exactly(Fraction(1, math.factorial(n)))
    check(program, lambda order: each if order in orders else NEVER, orders, walk)


# The samplers over arrays.


def check_uniforms_below(
    sampler: Callable[[int, int, Randomness], NDArray[np.uint64]], n: int, count: int, walk: Walk
) -> None:
    """Every tuple of ``count`` numbers below n has probability n**-count."""
    tuples = set(itertools.product(range(n), repeat=count))
    each = exactly(Fraction(1, n**count))

    def program(source: Randomness) -> tuple[int, ...]:
        return tuple(sampler(n, count, source).tolist())

    check(program, lambda values: each if values in tuples else NEVER, tuples, walk)


def check_bernoullis(
    sampler: Callable[[NDArray[np.float64], Callable[[int], Curve], Randomness], NDArray[np.bool_]],
    estimates: Sequence[float],
    curves: Sequence[Curve],
    walk: Walk,
) -> None:
    """The coins fall independently, each with its own probability."""
    coins = [of_a_coin(curve(PRECISION)) for curve in curves]

    def probability(faces: tuple[bool, ...]) -> Enclosure:
        return product(coin(face) for coin, face in zip(coins, faces, strict=True))

    def program(source: Randomness) -> tuple[bool, ...]:
        return tuple(sampler(np.array(estimates), lambda i: curves[i], source).tolist())

    check(program, probability, itertools.product([False, True], repeat=len(curves)), walk)


# The largest of several partially sampled numbers.


def argmax(numbers: Numbers, scores: Sequence[float | Fraction], scale: Fraction, source: Randomness) -> int:
    """Fold ``greater_than`` over the candidates."""
    best, champion = 0, numbers(scores[0], scale, source)
    for index, score in enumerate(scores[1:], start=1):
        challenger = numbers(score, scale, source)
        if challenger.greater_than(champion):
            best, champion = index, challenger
    return best


def weights(scores: Sequence[float | Fraction], scale: Fraction) -> list[Enclosure]:
    """exp((score - maximum) / scale), where a float score is the binary number that it is."""
    best = max(Fraction(score) for score in scores)
    parts = [exp((Fraction(score) - best) / scale, PRECISION) for score in scores]
    tiny = Fraction(1, 2**PRECISION)
    return [part if part.low > tiny else Enclosure(Fraction(0), max(part.high, tiny)) for part in parts]


def softmax(scores: Sequence[float | Fraction], scale: Fraction) -> list[Enclosure]:
    """The exponential mechanism (McSherry and Talwar 2007)."""
    parts = weights(scores, scale)
    low, high = sum(part.low for part in parts), sum(part.high for part in parts)
    return [Enclosure(part.low / high, min(part.high / low, Fraction(1))) for part in parts]


def permute_and_flip(scores: Sequence[float | Fraction], scale: Fraction) -> list[Enclosure]:
    """A uniform choice among the successes of independent coins, summed over the sets of other successes.

    (McKenna and Sheldon 2020; that the largest with exponential noise follows it: Ding et al. 2021.)
    """
    coins = weights(scores, scale)

    def chosen(i: int) -> Enclosure:
        others = [coin for j, coin in enumerate(coins) if j != i]
        low, high = Fraction(0), Fraction(0)
        for faces in itertools.product([False, True], repeat=len(others)):
            odds = (of_a_coin(coin)(face) for coin, face in zip(others, faces, strict=True))
            term = product([coins[i], *odds, exactly(Fraction(1, 1 + sum(faces)))])
            low, high = low + term.low, high + term.high
        return Enclosure(low, min(high, Fraction(1)))

    return [chosen(i) for i in range(len(coins))]


def check_argmax(
    numbers: Numbers,
    scores: Sequence[float | Fraction],
    walk: Walk,
    *,
    scale: Fraction = Fraction(1),
    law: Literal["softmax", "permute_and_flip"],
) -> None:
    """The index of the largest follows the law of the mechanism."""
    expected = (softmax if law == "softmax" else permute_and_flip)(scores, scale)
    check(
        lambda source: argmax(numbers, scores, scale, source), expected.__getitem__, range(len(scores)), walk
    )
