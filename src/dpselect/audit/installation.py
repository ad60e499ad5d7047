"""What can be proved of this very installation: walk the random bits of its code, and compare with theory.

Each claim names a program, the law that a paper gives it, and a depth. All paths of so many random bits are
walked; the law must lie within what was proved of every outcome, and what is left open must be small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from dpselect.audit.enumeration import enumerate_law
from dpselect.audit.proofs import proofs
from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact import enclosures, samplers
from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.psrn import Exponential, Gumbel
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms import make_permute_and_flip, make_report_noisy_max, make_report_noisy_max_gumbel
from dpselect.privacy import Measurement, atom_domain, max_divergence, range_distance, vector_domain
from dpselect.utility import Noise, enclosed_law

SCORES = vector_domain(atom_domain(float))
ONE = Fraction(1)
CLOSE = Fraction(1, 2**60)
"""So closely are numbers compared that theory says are equal; they are enclosed to 2**-64."""

POINTS = [Fraction(text) for text in ("2/3", "4/5", "6/7", "3/2")]
"""Numerators that share factors with small numbers: simpler points hide real bugs."""


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and how much probability was left open (None where nothing was walked)."""

    holds: bool
    open: Fraction | None = None


@dataclass(frozen=True)
class Claim:
    """Something that this installation is said to do, the depth of the proof in bits, and how to find out."""

    subject: Literal["sampler", "mechanism", "price", "proof"]
    name: str
    statement: str
    depth: int | None
    check: Callable[[], Verdict]


def claims(deeper: int = 0) -> Iterator[Claim]:
    """List what can be verified; ``deeper`` walks so many bits more."""
    yield from _of_samplers(deeper)
    yield from _of_mechanisms(deeper)
    yield from _of_prices()
    for proof in proofs():
        yield Claim(
            "proof",
            proof.code.stem,
            "the code is the one that was read with its proof",
            None,
            partial(_is_read, proof.recorded, proof.digest),
        )


def _is_read(recorded: str, now: str) -> Verdict:
    return Verdict(recorded == now)


# ---- walking -----------------------------------------------------------------------------------------------


def _walked(
    program: Callable[[Randomness], Any],
    law: Callable[[Any], Enclosure],
    values: Sequence[Hashable],
    depth: int,
    most_open: Fraction,
) -> Verdict:
    """Walk a program; its law must be allowed, for the values and for everything else that it gave."""
    found = enumerate_law(program, depth)
    allowed = all(found.allows(value, *law(value)) for value in {*values, *found.lower})
    return Verdict(allowed and found.unresolved < most_open, found.unresolved)


def _in_rounds(
    program: Callable[[Randomness], int], law: Mapping[int, Enclosure], depth: int, most_open: Fraction
) -> Verdict:
    """Walk one round of a program; what follows for all rounds must enclose the law, closely."""
    found = enumerate_rounds(program, depth)
    enclosed = found.keys() == law.keys() and all(
        found[i].low <= law[i].low <= law[i].high <= found[i].high for i in law
    )
    widest = max((high - low for low, high in found.values()), default=ONE)
    return Verdict(enclosed and widest < most_open, widest)


def _below(bits: int) -> Fraction:
    return Fraction(1, 2**bits)


def _exactly(p: Fraction) -> Enclosure:
    return Enclosure(p, p)


def _coin(heads: Enclosure, face: object) -> Enclosure:
    return heads if face else Enclosure(1 - heads.high, 1 - heads.low)


# ---- samplers ----------------------------------------------------------------------------------------------


def _of_samplers(deeper: int) -> Iterator[Claim]:
    depth = 48 + deeper
    for n in (3, 6, 7, 10):
        law = partial(_uniform, n)
        check = partial(_walked, partial(_call, samplers.uniform_below, n), law, range(n), depth, _below(40))
        yield Claim("sampler", "uniform_below", f"each number below {n} has probability 1/{n}", depth, check)
    for p in POINTS[:3]:
        check = partial(
            _walked,
            partial(_call, samplers.bernoulli, p),
            partial(_coin, _exactly(p)),
            [False, True],
            depth,
            _below(40),
        )
        yield Claim("sampler", "bernoulli", f"true with probability {p}", depth, check)
    for x in POINTS:
        check = partial(
            _walked,
            partial(_call, samplers.bernoulli_exp, x),
            partial(_coin, exp(-x, 512)),
            [False, True],
            depth,
            _below(40),
        )
        yield Claim("sampler", "bernoulli_exp", f"true with probability exp(-{x})", depth, check)
    check = partial(
        _walked,
        partial(_call, samplers.bernoulli_enclosed, partial(enclosures.log, 2)),
        partial(_coin, enclosures.log(2, 512)),
        [False, True],
        depth,
        _below(40),
    )
    yield Claim("sampler", "bernoulli_enclosed", "true with probability log 2", depth, check)
    for p in POINTS[:2]:
        check = partial(
            _walked,
            partial(_call, samplers.geometric, p),
            partial(_geometric, p),
            range(9),
            18 + deeper,
            _below(8),
        )
        yield Claim("sampler", "geometric", f"waits for a coin of {p}", 18 + deeper, check)
    check = partial(
        _walked,
        partial(_call, samplers.discrete_laplace, Fraction(2, 3)),
        partial(_discrete_laplace, Fraction(2, 3)),
        range(-9, 10),
        18 + deeper,
        _below(8),
    )
    yield Claim("sampler", "discrete_laplace", "z with probability of exp(-3|z|/2)", 18 + deeper, check)
    yield from _of_partial_numbers(deeper)


def _of_partial_numbers(deeper: int) -> Iterator[Claim]:
    numbers: list[tuple[Noise, Any]] = [("gumbel", Gumbel), ("exponential", Exponential)]
    for noise, kind in numbers:
        law = enclosed_law([0, 1], noise=noise, scale=ONE)
        check = partial(
            _walked,
            partial(_second_is_larger, kind),
            partial(_of_the_second, law[1,]),
            [False, True],
            14 + deeper,
            _below(4),
        )
        statement = f"1 + {noise} noise beats {noise} noise by its law"
        yield Claim("sampler", f"partial {noise}", statement, 14 + deeper, check)


def _call(sampler: Callable[[Any, Randomness], Any], argument: object, source: Randomness) -> object:
    return sampler(argument, source)


def _uniform(n: int, value: Any) -> Enclosure:  # noqa: ANN401 - whatever the sampler gave
    return _exactly(Fraction(1, n) if 0 <= value < n else Fraction(0))


def _geometric(p: Fraction, trials: Any) -> Enclosure:  # noqa: ANN401
    return _exactly(p * (1 - p) ** (trials - 1) if trials >= 1 else Fraction(0))


def _discrete_laplace(scale: Fraction, z: Any) -> Enclosure:  # noqa: ANN401
    def mass(steps: Ball, spread: Ball) -> Ball:
        q = (-1 / spread).exp()
        return (1 - q) / (1 + q) * (-steps / spread).exp()

    return enclose(mass, Fraction(abs(z)), scale, precision=512)


def _second_is_larger(kind: Any, source: Randomness) -> bool:  # noqa: ANN401 - a class of partial numbers
    first, second = kind(0, ONE, source), kind(1, ONE, source)
    return bool(second.greater_than(first))


def _of_the_second(second: Enclosure, larger: object) -> Enclosure:
    return _coin(second, larger)


# ---- mechanisms --------------------------------------------------------------------------------------------


def _of_mechanisms(deeper: int) -> Iterator[Claim]:
    vectors: list[tuple[list[Any], Fraction]] = [
        ([0, 1, 2], ONE),
        ([3, 1, 3], Fraction(2, 3)),
        ([0.1, 0.2, 0.3], ONE),
        ([Fraction(1, 3), Fraction(2, 3), 1], Fraction(2, 3)),
    ]
    for scores, scale in vectors:
        told = f"scores {', '.join(map(str, scores))}, scale {scale}"
        softmax = {i: p for (i,), p in enclosed_law(scores, noise="gumbel", scale=scale).items()}
        gumbel = make_report_noisy_max_gumbel(SCORES, range_distance(), scale)
        check = partial(_in_rounds, partial(_winner, gumbel, scores), softmax, 30 + deeper, _below(20))
        yield Claim("mechanism", "report noisy max, Gumbel", f"softmax: {told}", 30 + deeper, check)
        law = enclosed_law(scores, noise="exponential", scale=scale)
        exponential = make_report_noisy_max(SCORES, range_distance(), max_divergence(), scale)
        walked = partial(
            _walked,
            partial(_winner, exponential, scores),
            partial(_of_one, law),
            range(3),
            18 + deeper,
            _below(5),
        )
        statement = f"permute-and-flip: {told}"
        yield Claim("mechanism", "report noisy max, exponential", statement, 18 + deeper, walked)
    two = make_permute_and_flip(SCORES, range_distance(), ONE, 2)
    law = _peeled([0, -1, -2])
    walked = partial(
        _walked, partial(_winners, two, [0, -1, -2]), law.__getitem__, list(law), 16 + deeper, _below(4)
    )
    statement = "2 of 3, one after the other: scores 0, -1, -2, scale 1"
    yield Claim("mechanism", "permute-and-flip, peeled", statement, 16 + deeper, walked)


def _winner(mechanism: Measurement, scores: list[Any], source: Randomness) -> int:
    return int(mechanism.draw(scores, source))


def _winners(mechanism: Measurement, scores: list[Any], source: Randomness) -> tuple[int, ...]:
    return tuple(mechanism.draw(scores, source))


def _of_one(law: Mapping[tuple[int, ...], Enclosure], winner: int) -> Enclosure:
    return law[winner,]


def _peeled(scores: list[int]) -> dict[tuple[int, ...], Enclosure]:
    """Draw one by permute-and-flip, remove it, draw another."""
    first = enclosed_law(scores, noise="exponential", scale=ONE)
    law: dict[tuple[int, ...], Enclosure] = {}
    for a, b in itertools.permutations(range(len(scores)), 2):
        left = [i for i in range(len(scores)) if i != a]
        second = enclosed_law([scores[i] for i in left], noise="exponential", scale=ONE)[left.index(b),]
        law[a, b] = Enclosure(first[a,].low * second.low, first[a,].high * second.high)
    return law


# ---- prices ------------------------------------------------------------------------------------------------


def _of_prices() -> Iterator[Claim]:
    """On neighbouring scores, no outcome gets likelier by more than the price allows."""
    pairs: list[tuple[list[int], list[int]]] = [
        ([0, 1, 2], [1, 1, 2]),
        ([0, 0, 9], [1, 0, 9]),
        ([3, 0], [3, 1]),
    ]
    makers: list[tuple[Noise, Measurement]] = [
        ("gumbel", make_report_noisy_max_gumbel(SCORES, range_distance(), ONE)),
        ("exponential", make_report_noisy_max(SCORES, range_distance(), max_divergence(), ONE)),
    ]
    for noise, mechanism in makers:
        price = Fraction(str(mechanism.map(1)))
        for scores, others in pairs:
            told = f"{', '.join(map(str, scores))} beside {', '.join(map(str, others))}"
            statement = f"odds change by at most exp({price}): {told}"
            check = partial(_within_price, noise, scores, others, price)
            yield Claim("price", f"{noise} noise", statement, None, check)


def _within_price(noise: Noise, scores: list[int], others: list[int], price: Fraction) -> Verdict:
    """Compare the largest ratio of the two laws with the price, which exponential noise attains exactly."""
    ours, theirs = (enclosed_law(each, noise=noise, scale=ONE) for each in (scores, others))
    ratios = [max(ours[i].high / theirs[i].low, theirs[i].high / ours[i].low) for i in ours]
    return Verdict(max(ratios) <= exp(price).low * (1 + CLOSE))
