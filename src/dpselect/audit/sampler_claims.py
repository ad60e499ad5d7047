"""What is claimed of the exact samplers, and of the numbers that are drawn bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from dpselect.audit.claims import ONE, Claim, below, coin, exactly, walked
from dpselect.exact import enclosures, samplers
from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.partial_numbers import Exponential, Gumbel
from dpselect.exact.randomness import Randomness
from dpselect.utility import Noise, enclosed_law

POINTS = [Fraction(text) for text in ("2/3", "4/5", "6/7", "3/2")]
"""Numerators that share factors with small numbers: simpler points hide real bugs."""


def of_samplers(deeper: int) -> Iterator[Claim]:
    """List the laws of the samplers."""
    depth = 48 + deeper
    for n in (3, 6, 7, 10):
        law = partial(_uniform, n)
        check = partial(walked, partial(_call, samplers.uniform_below, n), law, range(n), depth, below(40))
        yield Claim("sampler", "uniform_below", f"each number below {n} has probability 1/{n}", depth, check)
    for p in POINTS[:3]:
        check = partial(
            walked,
            partial(_call, samplers.bernoulli, p),
            partial(coin, exactly(p)),
            [False, True],
            depth,
            below(40),
        )
        yield Claim("sampler", "bernoulli", f"true with probability {p}", depth, check)
    for x in POINTS:
        check = partial(
            walked,
            partial(_call, samplers.bernoulli_exp, x),
            partial(coin, exp(-x, 512)),
            [False, True],
            depth,
            below(40),
        )
        yield Claim("sampler", "bernoulli_exp", f"true with probability exp(-{x})", depth, check)
    check = partial(
        walked,
        partial(_call, samplers.bernoulli_enclosed, partial(enclosures.log, 2)),
        partial(coin, enclosures.log(2, 512)),
        [False, True],
        depth,
        below(40),
    )
    yield Claim("sampler", "bernoulli_enclosed", "true with probability log 2", depth, check)
    for p in POINTS[:2]:
        check = partial(
            walked,
            partial(_call, samplers.geometric_trials, p),
            partial(_geometric, p),
            range(9),
            18 + deeper,
            below(8),
        )
        yield Claim("sampler", "geometric", f"waits for a coin of {p}", 18 + deeper, check)
    check = partial(
        walked,
        partial(_call, samplers.discrete_laplace, Fraction(2, 3)),
        partial(_discrete_laplace, Fraction(2, 3)),
        range(-9, 10),
        18 + deeper,
        below(8),
    )
    yield Claim("sampler", "discrete_laplace", "z with probability of exp(-3|z|/2)", 18 + deeper, check)
    yield from _of_partial_numbers(deeper)


def _of_partial_numbers(deeper: int) -> Iterator[Claim]:
    numbers: list[tuple[Noise, Any]] = [("gumbel", Gumbel), ("exponential", Exponential)]
    for noise, kind in numbers:
        law = enclosed_law([0, 1], noise=noise, scale=ONE)
        check = partial(
            walked,
            partial(_second_is_larger, kind),
            partial(coin, law[1,]),
            [False, True],
            14 + deeper,
            below(4),
        )
        statement = f"1 + {noise} noise beats {noise} noise by its law"
        yield Claim("sampler", f"partial {noise}", statement, 14 + deeper, check)


def _call(sampler: Callable[[Any, Randomness], Any], argument: object, source: Randomness) -> object:
    return sampler(argument, source)


def _uniform(n: int, value: Any) -> Enclosure:
    return exactly(Fraction(1, n) if 0 <= value < n else Fraction(0))


def _geometric(p: Fraction, trials: Any) -> Enclosure:
    return exactly(p * (1 - p) ** (trials - 1) if trials >= 1 else Fraction(0))


def _discrete_laplace(scale: Fraction, z: Any) -> Enclosure:
    def mass(steps: Ball, spread: Ball) -> Ball:
        q = (-1 / spread).exp()
        return (1 - q) / (1 + q) * (-steps / spread).exp()

    return enclose(mass, Fraction(abs(z)), scale, precision=512)


def _second_is_larger(kind: Any, source: Randomness) -> bool:
    first, second = kind(0, ONE, source), kind(1, ONE, source)
    return bool(second.greater_than(first))
