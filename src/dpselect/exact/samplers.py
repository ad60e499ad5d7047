"""Exact samplers of discrete laws, as functions of random words.

Each is one real comparison: a uniform number, drawn word by word, against a boundary that is known exactly
or enclosed as finely as needed. A boundary is never rounded, only looked at more closely.

Proof: samplers.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.numbers import Number, not_negative, positive, probability, whole
from dpselect.exact.partial_numbers import SPARE_BITS, Uniform
from dpselect.exact.randomness import Randomness, checked
from dpselect.exact.unimodal import single_peaked

EXP_STEP = 512
"""bernoulli_exp splits larger exponents, so that no probability below exp(-512) is ever enclosed."""


def uniform_below(n: int, randomness: Randomness) -> int:
    """Draw 0, 1, ..., n - 1 with equal probability.

    ``value`` is always uniform below ``span``. A word makes both larger. If the value is below the largest
    multiple of n in the span, the answer is the value modulo n; otherwise both are reduced by that multiple
    (Lumbroso 2013, Optimal discrete uniform generation).
    """
    return draw_below(whole(n, "n", least=1), checked(randomness))


def draw_below(sides: int, source: Randomness) -> int:
    """Draw as ``uniform_below`` does, with parameters that need no check."""
    span, value = 1, 0
    while True:
        usable = span - span % sides
        if value < usable:
            return value % sides
        span, value = span - usable, value - usable
        span, value = span << source.width, (value << source.width) | source.word()


def bernoulli(p: Number, randomness: Randomness) -> bool:
    """Draw True with probability exactly p, by comparing random digits with the digits of p."""
    top, bottom = probability(p, "p").as_integer_ratio()
    source = checked(randomness)
    while 0 < top < bottom:
        digit, top = divmod(top << source.width, bottom)
        word = source.word()
        if word != digit:
            return word < digit
    return top == bottom


def bernoulli_enclosed(enclose: Callable[[int], Enclosure], randomness: Randomness) -> bool:
    """Draw True with probability exactly p, where enclose(precision) gives [low, high] around p.

    The width of what ``enclose`` gives must shrink to zero as the precision grows.
    """
    if not callable(enclose):
        raise InvalidParameter.must_be("enclose", "a function from precision to [low, high]", got=enclose)
    number = Uniform(randomness)
    number.refine()
    return is_below_exactly(number, enclose)


def is_below_exactly(number: Uniform, enclose: Callable[[int], Enclosure], spare: int = 64) -> bool:
    """Decide number < p, drawing more of the number's bits for as long as p lies among them.

    The enclosure of p has ``spare`` bits more than the number: it serves for the next comparisons too.
    Take few where a finer enclosure needs random bits of its own.
    """
    precision = 0
    while True:
        if number.bits + min(spare, SPARE_BITS) > precision:
            precision = number.bits + spare
            low, high = enclose(precision)
        if number.is_at_most(low):
            return True
        if number.is_at_least(high):
            return False
        number.refine()


def bernoulli_exp(x: Number, randomness: Randomness) -> bool:
    """Draw True with probability exactly exp(-x), for any x >= 0."""
    exponent, source = not_negative(x, "x"), checked(randomness)
    while exponent > EXP_STEP:
        if not bernoulli_enclosed(lambda precision: exp(-EXP_STEP, precision), source):
            return False
        exponent -= EXP_STEP
    return exponent == 0 or bernoulli_enclosed(lambda precision: exp(-exponent, precision), source)


def geometric_trials(p: Number, randomness: Randomness) -> int:
    """Draw the number of trials until the first success: 1, 2, ...; each succeeds with probability p."""
    success = probability(p, "p")
    if not success > 0:
        raise InvalidParameter.must_be("p", "above zero", got=p, way_out="A trial must be able to succeed.")
    source, failure = checked(randomness), 1 - success
    return 1 + _floor_of(lambda u, fail: u.log() / fail.log(), failure, source) if failure else 1


def discrete_laplace(scale: Number, randomness: Randomness) -> int:
    """Draw an integer z with probability proportional to exp(-|z| / scale)."""
    spread = positive(scale, "scale")
    sign = 1 - 2 * uniform_below(2, randomness)
    return sign * _floor_of(lambda u, s: -s * (u * (1 + (-1 / s).exp()) / 2).log(), spread, randomness)


def truncated_geometric(decay: Number, count: int | None, randomness: Randomness) -> int:
    """Draw k = 0, 1, ..., count - 1 with probability proportional to exp(-k * decay); None is no bound."""
    rate, source = positive(decay, "decay"), checked(randomness)
    most = None if count is None else whole(count, "count", least=1) - 1
    share = None if most is None else -rate * (most + 1)
    number = Uniform(source)
    while most != 0:
        number.refine()
        bits, upper = number.bits + SPARE_BITS, number.upper()
        least = math.floor(_geometric_quantile(number.lower(), rate, share, bits).low)
        if upper == 1 and most is None:
            continue
        highest = math.floor(_geometric_quantile(upper, rate, share, bits).high) if upper < 1 else most
        if least in (highest, most):
            return least
    return 0


def _geometric_quantile(u: Fraction, rate: Fraction, share: Fraction | None, bits: int) -> Enclosure:
    """Enclose -ln(1 - u (1 - exp(share))) / rate, for u below 1; without a share, exp(share) is 0."""
    if share is None:
        return enclose(lambda u, d: -(-u).log1p() / d, u, rate, precision=bits)
    return enclose(lambda u, d, s: -(u * s.expm1()).log1p() / d, u, rate, share, precision=bits)


def _floor_of(quantile: Callable[[Ball, Ball], Ball], parameter: Fraction, randomness: Randomness) -> int:
    """Draw floor(quantile(U, parameter)), for a quantile that decreases from infinity to at least 0."""
    number = Uniform(randomness)
    while True:
        number.refine()
        if number.lower() > 0:
            bits = number.bits + SPARE_BITS
            least = math.floor(enclose(quantile, number.upper(), parameter, precision=bits).low)
            most = math.floor(enclose(quantile, number.lower(), parameter, precision=bits).high)
            if least == most:
                return least


def binomial(n: int, p: Number, randomness: Randomness) -> int:
    """Draw the number of successes among n trials, in about sqrt(n p (1 - p)) steps."""
    trials, success = whole(n, "n", least=0), probability(p, "p")
    source = checked(randomness)
    if trials == 0 or success in (0, 1):
        return trials * int(success)
    return single_peaked(Binomial(trials, success), source)


@dataclass(frozen=True)
class Binomial:
    """The law of the number of successes, for a probability between 0 and 1."""

    trials: int
    success: Fraction

    least: ClassVar = 0

    @property
    def mode(self) -> int:
        """A most likely number."""
        return math.floor((self.trials + 1) * self.success)

    def mass_at_mode(self, precision: int) -> Enclosure:
        """Enclose the probability of the mode."""
        return enclose(
            _binomial_mass, Fraction(self.trials), Fraction(self.mode), self.success, precision=precision
        )

    def ratio(self, k: int) -> tuple[int, int]:
        """Give P(k + 1) / P(k), which is 0 for k = n: whatever lies beyond has probability 0."""
        top, bottom = self.success.as_integer_ratio()
        return (self.trials - k) * top, (k + 1) * (bottom - top)


def _binomial_mass(n: Ball, k: Ball, p: Ball) -> Ball:
    ways = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
    return (ways + k * p.log() + (n - k) * (1 - p).log()).exp()


def permutation(n: int, randomness: Randomness) -> Iterator[int]:
    """Draw the indices 0, ..., n - 1 in uniformly random order, each when it is asked for."""
    return _shuffled(whole(n, "n", least=0), checked(randomness))


def _shuffled(n: int, randomness: Randomness) -> Iterator[int]:
    """Shuffle as Fisher and Yates do, noting only the places whose index has moved."""
    moved: dict[int, int] = {}
    for place in range(n):
        chosen = place + uniform_below(n - place, randomness)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.pop(place, place)
