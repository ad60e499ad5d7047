"""What can be proved of this very installation: of samplers, mechanisms, prices and proofs.

Each claim names a program, the law that a paper gives it, and a depth.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from dpselect.audit.claims import ONE, Claim, Verdict, below, in_rounds, walked
from dpselect.audit.proofs import proofs
from dpselect.audit.sampler_claims import of_samplers
from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms import make_permute_and_flip, make_report_noisy_max, make_report_noisy_max_gumbel
from dpselect.privacy import Measurement, atom_domain, max_divergence, range_distance, vector_domain
from dpselect.utility import Noise, enclosed_law

SCORES = vector_domain(atom_domain(float))
CLOSE = Fraction(1, 2**60)
"""Numbers that theory says are equal must differ by less; they are enclosed to 2**-64."""


def claims(deeper: int = 0) -> Iterator[Claim]:
    """List what can be verified; ``deeper`` is the number of bits that are walked in addition."""
    yield from of_samplers(deeper)
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
        check = partial(in_rounds, partial(_winner, gumbel, scores), softmax, 30 + deeper, below(20))
        yield Claim("mechanism", "report noisy max, Gumbel", f"softmax: {told}", 30 + deeper, check)
        law = enclosed_law(scores, noise="exponential", scale=scale)
        exponential = make_report_noisy_max(SCORES, range_distance(), max_divergence(), scale)
        flips = partial(
            walked,
            partial(_winner, exponential, scores),
            partial(_of_one, law),
            range(3),
            18 + deeper,
            below(5),
        )
        statement = f"permute-and-flip: {told}"
        yield Claim("mechanism", "report noisy max, exponential", statement, 18 + deeper, flips)
    two = make_permute_and_flip(SCORES, range_distance(), ONE, 2)
    law = _peeled([0, -1, -2])
    rounds = partial(
        walked, partial(_winners, two, [0, -1, -2]), law.__getitem__, list(law), 20 + deeper, below(6)
    )
    statement = "2 of 3, one after the other: scores 0, -1, -2, scale 1"
    yield Claim("mechanism", "permute-and-flip, peeled", statement, 20 + deeper, rounds)


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
