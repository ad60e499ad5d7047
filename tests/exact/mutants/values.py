"""Wrong samplers of one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from dpselect.exact.enclosures import Enclosure
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import (
    bernoulli,
    bernoulli_exp,
    is_below_exactly,
    truncated_geometric,
    uniform_below,
)
from tests.exact.laws import Curve

# Uniform integers.


def modulo(n: int, source: Randomness) -> int:
    """Modulo bias: one word, whatever its size, modulo n (B3)."""
    return source.word() % n


def one_too_many(n: int, source: Randomness) -> int:
    """Off by one: n itself is given too."""
    return uniform_below(n + 1, source)


def never_the_last(n: int, source: Randomness) -> int:
    """Off by one: n - 1 is never given (B2)."""
    return uniform_below(max(1, n - 1), source)


def keeps_asking(_: int, source: Randomness) -> int:
    """Never terminates."""
    while True:
        source.word()


# Coins.


def by_float_division(p: Fraction, source: Randomness) -> bool:
    """The quotient is a float64: wrong from the 54th bit on."""
    return bernoulli(Fraction(p.numerator / p.denominator), source)


def inverted(p: Fraction, source: Randomness) -> bool:
    """The probability of the other side (B4)."""
    return bernoulli(1 - p, source)


def by_float_exp(x: Fraction, source: Randomness) -> bool:
    """The probability is a float64."""
    return bernoulli(Fraction(math.exp(-x)), source)


def alternating(x: Fraction, source: Randomness) -> bool:
    """Right, for x <= 1: coins with x/1, x/2, ... first fail at an odd place (von Neumann 1951)."""
    return _first_failure(x, source, lambda k: x / k) % 2 == 1


def alternating_with_the_parity_flipped(x: Fraction, source: Randomness) -> bool:
    return _first_failure(x, source, lambda k: x / k) % 2 == 0


def alternating_with_a_careless_quotient(x: Fraction, source: Randomness) -> bool:
    """The quotient is reduced by a common factor, which is then forgotten (B1)."""

    def quotient(k: int) -> Fraction:
        return Fraction(x.numerator // math.gcd(x.numerator, k), x.denominator * k)

    return _first_failure(x, source, quotient) % 2 == 1


def alternating_off_by_one(x: Fraction, source: Randomness) -> bool:
    """Coins with x/2, x/3, ..."""
    return _first_failure(x, source, lambda k: x / (k + 1)) % 2 == 1


def _first_failure(x: Fraction, source: Randomness, chance: Callable[[int], Fraction]) -> int:
    k = 1
    while True:
        source.mark((x, k))
        if not bernoulli(chance(k), source):
            return k
        k += 1


def drawn_anew(p: Curve, source: Randomness) -> bool:
    """Wrong refinement: where the bits do not decide, other bits are drawn instead of more."""
    while True:
        number = Uniform(source)
        number.refine()
        number.refine()
        low, high = p(100)
        if number.upper() <= low:
            return True
        if number.lower() >= high:
            return False


def patient_up_to_53_bits(p: Curve, source: Randomness) -> bool:
    """Wrong refinement: after 53 bits, the middle decides."""
    number = Uniform(source)
    low, high = p(200)
    while number.bits < 53:
        number.refine()
        if number.upper() <= low or number.lower() >= high:
            break
    return number.lower() + number.upper() < low + high


def never_closer(p: Curve, source: Randomness) -> bool:
    """Wrong refinement: the probability is enclosed to 8 bits, once and for all."""
    least = math.floor(p(64).low * 2**8)
    number = Uniform(source)
    while True:
        number.refine()
        if number.upper() <= Fraction(least, 2**8):
            return True
        if number.lower() >= Fraction(least + 1, 2**8):
            return False


# Waiting times and numbers of successes.


def _wait(p: Fraction, source: Randomness) -> int:
    trials = 1
    while True:
        source.mark((p, trials))
        if bernoulli(p, source):
            return trials
        trials += 1


def trial_by_trial(p: Fraction, source: Randomness) -> int:
    """Right: trials until the first success."""
    return _wait(p, source)


def from_zero(p: Fraction, source: Randomness) -> int:
    """Off by one: failures before the first success."""
    return _wait(p, source) - 1


def until_the_first_failure(p: Fraction, source: Randomness) -> int:
    """Inverted: 1 - p for p (B4)."""
    return _wait(1 - p, source)


def by_scale(p: Fraction, source: Randomness) -> int:
    """A rate where a scale was meant: p for 1 - exp(-p) (B4)."""
    trials = 1
    while True:
        source.mark((p, trials))
        if not bernoulli_exp(p, source):
            return trials
        trials += 1


def one_at_a_time(n: int, p: Fraction, source: Randomness) -> int:
    """Right: add up n coins."""
    return _add_up(n, p, source)


def one_short(n: int, p: Fraction, source: Randomness) -> int:
    """Off by one: n - 1 coins."""
    return _add_up(n - 1, p, source)


def _add_up(n: int, p: Fraction, source: Randomness) -> int:
    successes = 0
    for trial in range(n):
        source.mark((trial, successes))
        successes += bernoulli(p, source)
    return successes


def outward_from_the_mode(n: int, p: Fraction, source: Randomness) -> int:
    """Right: outcomes from the mode outward, the first whose summed probabilities exceed a uniform number."""
    return _first_to_exceed(n, p, _outward(n, p), source)


def outward_without_the_mode(n: int, p: Fraction, source: Randomness) -> int:
    """The walk begins beside the mode."""
    return _first_to_exceed(n, p, _outward(n, p)[1:], source)


def _outward(n: int, p: Fraction) -> list[int]:
    mode = math.floor((n + 1) * p)
    return sorted(range(n + 1), key=lambda k: (abs(k - mode), k))


def _first_to_exceed(n: int, p: Fraction, order: list[int], source: Randomness) -> int:
    number, reached = Uniform(source), Fraction(0)
    for k in order:
        reached += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if _is_below(number, reached):
            return k
    return order[-1]


def _is_below(number: Uniform, p: Fraction) -> bool:
    return is_below_exactly(number, lambda _: Enclosure(p, p))


def with_two_zeros(scale: Fraction, source: Randomness) -> int:
    """Zero is reached with either sign, so it comes twice as often as it should."""
    sign = 1 - 2 * uniform_below(2, source)
    steps = 0
    while True:
        source.mark((sign, steps))
        if not bernoulli_exp(1 / scale, source):
            return sign * steps
        steps += 1


def without_an_end(decay: Fraction, count: int | None, source: Randomness) -> int:
    """What lies beyond the end is put at the last place, not spread over all."""
    place = truncated_geometric(decay, None, source)
    return place if count is None else min(place, count - 1)


def one_place_short(decay: Fraction, count: int | None, source: Randomness) -> int:
    """The last place is never reached."""
    return truncated_geometric(decay, None if count is None else count - 1, source)


# Orders.


def with_any_place(n: int, source: Randomness) -> Iterator[int]:
    """Each place is exchanged with any place: n**n paths cannot fall evenly on n! orders."""
    order = list(range(n))
    for place in range(n):
        other = uniform_below(n, source)
        order[place], order[other] = order[other], order[place]
    return iter(order)


def with_a_later_place(n: int, source: Randomness) -> Iterator[int]:
    """Each place is exchanged with a later one, never with itself (Sattolo): a single cycle."""
    order = list(range(n))
    for place in range(n - 1):
        other = place + 1 + uniform_below(n - 1 - place, source)
        order[place], order[other] = order[other], order[place]
    return iter(order)
