"""What a race must pass: its rounds over blocks, relative to any base, and at given times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from dpselect.audit import enumerate_law
from dpselect.audit.rounds import of_rounds
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.vector_samplers import SLACK
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import NoiseLaw, RaceLaw
from dpselect.selection.permute_and_flip_race import PermuteAndFlipRace
from dpselect.selection.poisson_times import PoissonTimes
from dpselect.selection.race import Race
from dpselect.selection.scores import ScoreVector
from dpselect.selection.winner import in_batches
from tests.exact.laws import PRECISION, Rejected, Walk, check, permute_and_flip, product, softmax
from tests.exact.sources import Given
from tests.mechanisms.closed_forms import check_rounds
from tests.mechanisms.makers import EXPONENTIAL, GUMBEL, ONE

SIX = [2.0, 1.2, 1.0, 1.5, 0.5, -1.0]
"""In blocks of two: {0, 3}, {1, 4} and {2, 5}. With words of one bit 32 units; 8 are the weight 1."""

FOUR = [2.0, 2.0, 1.5, 1.0]
"""In blocks of two: {0, 2} and {1, 3}. With words of one bit 32 units; 8 are the weight 1."""

TEN = [3.0, 1.5, 1.0, 0.5, 0.0, 0.3, 1.5, 0.9, -1.0, 0.4]
"""In blocks of two. Below the second best, 0 is individual and leaves {0, 5}; no candidate of {1, 6} is
better."""

NINE = [0.5, 1.5, 1.0, 0.0, 3.0, 0.7, 1.5, 0.9, 0.2]
"""In blocks of two, of which the last holds 4 alone, the best."""

HALF, NINTH, EARLY, LATE = 2**63, 2**64 // 9, 2**64 - 1, 1
"""Words of times: the first proposal comes at ln(2) / rate, at about ln(9) / rate, at once, or late."""

NEVER = Enclosure(Fraction(0), Fraction(0))


def in_blocks(
    scores: Sequence[float], optimize: Literal["max", "min"] = "max", kind: type[ArrayScores] = ArrayScores
) -> ScoreVector:
    """Give a score vector in blocks of two, with all signs changed if the smallest wins."""
    sign = 1 if optimize == "max" else -1
    return kind(sign * np.array(scores), optimize, block_size=2)


def envelope_of(vector: ScoreVector, k: int = 1, kind: type[Envelope] = Envelope, width: int = 1) -> Envelope:
    threshold = vector.find_threshold(k)
    assert threshold is not None
    return kind(vector, threshold, ONE, width)


def first(race: Race) -> tuple[int, int] | None:
    """Give the first arrival with the number of its proposal, if there is one yet."""
    return next(iter(race.arrivals.items()), None)


Way: TypeAlias = Literal["noted", "batched"]
"""How an accepted candidate is found: by ``run`` of a race, or by ``each_accepted``."""


def one_round(
    envelope: Envelope, noise: NoiseLaw, times_from: int | None
) -> Callable[[Randomness], int | None]:
    """Race for one proposal; its time is made of a given word, if there is one."""

    def program(source: Randomness) -> int | None:
        drawn_times = (
            None if times_from is None else PoissonTimes(envelope.rate, Given([times_from, *[0] * 1000]))
        )
        race = Race(envelope, noise, source, drawn_times)
        race.run(1)
        found = first(race)
        return None if found is None else found[0]

    return program


def one_accepted(envelope: Envelope, way: Way) -> Callable[[Randomness], int | None]:
    """Make one proposal, and give its candidate if it is accepted."""
    if way == "noted":
        return one_round(envelope, GUMBEL, None)
    return lambda source: next((candidate for candidate, _ in envelope.each_accepted(1, source)), None)


def check_first_arrival(
    scores: Sequence[float], walk: Walk, failures: type[PermuteAndFlipRace] = PermuteAndFlipRace
) -> None:
    """The first arrival with exponential noise is the winner of permute-and-flip."""
    envelope = envelope_of(in_blocks(scores))

    def program(source: Randomness) -> int:
        return in_batches(envelope, failures(envelope, source), source, 1)

    check(program, permute_and_flip(scores, ONE).__getitem__, range(len(scores)), walk)


def check_blocks(
    envelope: type[Envelope] = Envelope,
    kind: type[ArrayScores] = ArrayScores,
    optimize: Literal["max", "min"] = "max",
    way: Way = "noted",
    scores: Sequence[float] = SIX,
) -> None:
    """A round accepts in proportion to the weights."""
    program = one_accepted(envelope_of(in_blocks(scores, optimize, kind), kind=envelope), way)
    check_rounds(of_rounds(enumerate_law(program, 20)), softmax(scores, ONE), Fraction(1, 2**10))


def check_below_the_second(scores: Sequence[float] = TEN, kind: type[ArrayScores] = ArrayScores) -> None:
    """A round relative to the second best leaves the best out."""
    law = enumerate_law(one_round(envelope_of(in_blocks(scores, kind=kind), 2), GUMBEL, None), 16)
    best = scores.index(max(scores))
    expected = softmax([*scores[:best], *scores[best + 1 :]], ONE)
    check_rounds(of_rounds(law), [*expected[:best], NEVER, *expected[best:]], Fraction(1, 2**2))
    if set(law.lower) - {None} != set(range(len(scores))) - {best}:
        raise Rejected("an individual candidate races, or another never does")


def accepted(gap_in_scales: Fraction, words: Sequence[int], rate: Fraction, odds: int = 1) -> Enclosure:
    """P(the next proposal is this one, and accepted) = c / rate, with c = w / (w + (odds - w) exp(t)).

    The odds are 1 for exponential noise, and 2 for Laplace noise, of which half is positive.
    """
    product_of_words = Fraction(math.prod(words), 2 ** (64 * len(words)))

    def probability(x: Ball, u: Ball, r: Ball) -> Ball:
        weight = (-x).exp()
        return weight / (weight + (odds - weight) * (-u.log() / r).exp()) / r

    return enclose(probability, gap_in_scales, product_of_words, rate, precision=PRECISION)


def gaps_in_scales(scores: Sequence[float]) -> list[Fraction]:
    return [Fraction(max(scores)) - Fraction(score) for score in scores]


def check_at_a_time(word: int, scores: Sequence[float], noise: NoiseLaw = EXPONENTIAL, odds: int = 1) -> None:
    """Given its time, -ln(word / 2**64) / rate, a proposal is accepted as its noise demands."""
    envelope = envelope_of(in_blocks(scores))
    law = enumerate_law(one_round(envelope, noise, word), 18)
    if not law.unresolved < Fraction(1, 2**7):
        raise Rejected("too much stays open")
    for i, x in enumerate(gaps_in_scales(scores)):
        if not law.allows(i, *accepted(x, [word], envelope.rate, odds)):
            raise Rejected(f"the probability of {i} is wrong")


def check_two_proposals(
    batches: Sequence[int],
    times_from: type[PoissonTimes] = PoissonTimes,
    kind: type[Race] = Race,
    noise: NoiseLaw = EXPONENTIAL,
) -> None:
    """P(i at proposal 2) = (1 - sum of the first) * P(i at the time of the second), which both gaps make
    up."""
    scores = [2.0, 0.0]
    envelope = envelope_of(ArrayScores(np.array(scores), "max"))

    def program(source: Randomness) -> tuple[int, int] | None:
        race = kind(envelope, noise, source, times_from(envelope.rate, Given([NINTH, HALF, *[0] * 1000])))
        for batch in batches:
            race.run(batch)
        return first(race)

    law = enumerate_law(program, 14)
    if not law.unresolved < Fraction(1, 2):
        raise Rejected("too much stays open")
    alone = [accepted(x, [NINTH], envelope.rate) for x in gaps_in_scales(scores)]
    none = Enclosure(1 - alone[0].high - alone[1].high, 1 - alone[0].low - alone[1].low)
    for i, x in enumerate(gaps_in_scales(scores)):
        later = product([none, accepted(x, [NINTH, HALF], envelope.rate)])
        if not (law.allows((i, 1), *alone[i]) and law.allows((i, 2), *later)):
            raise Rejected(f"the probability of {i} is wrong")


def check_estimates(noise: RaceLaw, times_from: type[PoissonTimes] = PoissonTimes, count: int = 200) -> None:
    """The float acceptance is as close to the exact one as ``bernoullis`` demands, or NaN."""
    drawn_times = times_from(Fraction(5, 2), system())
    times = drawn_times.draw(count)
    errors = drawn_times.error(np.arange(1, count + 1), times)
    gaps_in_scales = np.linspace(0, 40, count)[np.arange(count) * 37 % count]
    known = 0
    for i, probability in enumerate(noise.acceptance(-gaps_in_scales, times, errors).tolist()):
        if math.isnan(probability):
            continue
        known += 1
        exact = noise.acceptance_exactly(Fraction(gaps_in_scales[i]), drawn_times.time(i + 1, 100), 100)
        margin = Fraction(SLACK) / 2
        if not exact.high - margin <= Fraction(probability) <= exact.low + margin:
            raise Rejected(f"the estimate at proposal {i + 1} is too far off")
    if not known > count * 9 // 10:
        raise Rejected("the filter hardly ever knows")
