"""Races that are wrong in one place each are rejected by the checks that accept ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import ExponentialNoise, GumbelNoise
from dpselect.selection.poisson_times import PoissonTimes
from dpselect.selection.race import Race
from dpselect.selection.scores import Threshold
from tests.exact.laws import Rejected, Walk, check, permute_and_flip, softmax
from tests.mechanisms.closed_forms import check_rounds, exponential_top_k
from tests.mechanisms.makers import ONE, exponential_max, gumbel_max
from tests.mechanisms.race_checks import (
    FOUR,
    HALF,
    SIX,
    Way,
    check_at_a_time,
    check_below_the_second,
    check_blocks,
    check_estimates,
    check_two_proposals,
)

Floats = NDArray[np.float64]

CERTAIN = Enclosure(Fraction(1), Fraction(1))


class TooFarBehind(ArrayScores):
    """Every cell seems further below the threshold than it is: units are too few."""

    def cell_exponents(self, threshold: Threshold, slope: float, top: float) -> Floats:
        return super().cell_exponents(threshold, slope, top) - 0.7 * slope


class Weightless(Envelope):
    """Every proposal is accepted."""

    def log_weights(self, candidates: NDArray[np.int64]) -> Floats:
        return np.zeros(len(candidates))

    def exact_gap_in_scales(self, candidate: int) -> Fraction:
        del candidate
        return Fraction(0)


class WithoutOffset(Envelope):
    """Every proposal is the first unit of its candidate."""

    def propose(self, count: int, randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        candidates, remainder = super().propose(count, randomness)
        return candidates, 0 * remainder + 1


class LastForTheMissing(Envelope):
    """No candidate in the last row is taken for the last candidate."""

    def propose(self, count: int, randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        candidates, remainder = super().propose(count, randomness)
        return np.minimum(candidates, self.vector.n - 1), remainder


class OnlyTheFilter(Envelope):
    """Right where floats decide, wrong where they do not."""

    def exact_gap_in_scales(self, candidate: int) -> Fraction | None:
        gap_in_scales = super().exact_gap_in_scales(candidate)
        return gap_in_scales and gap_in_scales / 2


class OnlyTheFirst(Envelope):
    """Of a block, only the first candidate is ever proposed."""

    def propose(self, count: int, randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        candidates, remainder = super().propose(count, randomness)
        return candidates % self.vector.blocks, remainder


class WithoutTime(ExponentialNoise):
    """Exponential noise with the acceptance of Gumbel noise."""

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        return GumbelNoise().acceptance(log_weights, times, errors)

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        return GumbelNoise().acceptance_exactly(gap_in_scales, time, precision)


class AtTheWrongEnd(ExponentialNoise):
    """The acceptance rises with the time."""

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        return super().acceptance(log_weights, -times, errors)


class StillInTheirBlocks(ArrayScores):
    """Extracted candidates race twice: in their own cells, and in their blocks."""

    def find_threshold(self, k: int) -> Threshold | None:
        threshold = super().find_threshold(k)
        assert threshold is not None
        return threshold._replace(empty_cells=threshold.empty_cells[threshold.empty_cells >= self.blocks])


class NoneExtracted(ArrayScores):
    """Blocks are emptied, and their candidates do not race at all."""

    def find_threshold(self, k: int) -> Threshold | None:
        threshold = super().find_threshold(k)
        assert threshold is not None
        assert threshold.extracted is not None
        cells = np.arange(self.blocks, self.blocks + len(threshold.extracted.scores))
        return threshold._replace(empty_cells=np.union1d(threshold.empty_cells, cells))


class IndividualToo(ArrayScores):
    """A candidate better than the threshold races as if it tied with it."""

    def find_threshold(self, k: int) -> Threshold | None:
        threshold = super().find_threshold(k)
        assert threshold is not None
        assert threshold.extracted is not None
        extracted = threshold.extracted._replace(
            scores=np.minimum(threshold.extracted.scores, threshold.kth_best)
        )
        return threshold._replace(
            empty_cells=threshold.empty_cells[threshold.empty_cells < self.blocks], extracted=extracted
        )


class FromTheTop(ArrayScores):
    """Gaps are measured from the best score, whatever k is."""

    def find_threshold(self, k: int) -> Threshold | None:
        del k
        return super().find_threshold(1)


class Forgetful(PoissonTimes):
    """Gives the gap before a proposal, not the sum of all gaps."""

    def draw(self, count: int) -> Floats:
        times = super().draw(count)
        start = getattr(self, "start", 0.0)
        self.start = times[-1]
        return np.diff(times, prepend=start)

    def time(self, proposal_number: int, precision: int) -> Enclosure:
        before = super().time(proposal_number - 1, precision).low if proposal_number > 1 else Fraction(0)
        low, high = super().time(proposal_number, precision)
        return Enclosure(low - before, high - before)


class OneProposalLate(PoissonTimes):
    """Every proposal is given the time of the one before it."""

    def draw(self, count: int) -> Floats:
        return np.concatenate([[0.0], super().draw(count)[:-1]])


class TheLastOne(Race):
    """Of the arrivals in a batch, the last one counts as the first."""

    def run(self, count: int, wanted: float = math.inf) -> None:
        super().run(count, wanted)
        self.arrivals = dict(reversed(self.arrivals.items()))


class Misnumbered(Race):
    """Arrivals are noted one proposal too late."""

    def run(self, count: int, wanted: float = math.inf) -> None:
        super().run(count, wanted)
        self.arrivals = {who: proposal_number + 1 for who, proposal_number in self.arrivals.items()}


@pytest.mark.parametrize(
    "envelope", [Weightless, WithoutOffset, LastForTheMissing, OnlyTheFilter, OnlyTheFirst]
)
@pytest.mark.parametrize("way", ["noted", "batched"])
def test_a_wrong_envelope_is_rejected(envelope: type[Envelope], way: Way) -> None:
    with pytest.raises(Rejected):
        check_blocks(envelope, way=way, scores=SIX[:5])


def test_a_wrong_score_vector_is_rejected() -> None:
    with pytest.raises(Rejected):
        check_blocks(kind=TooFarBehind)


@pytest.mark.parametrize("kind", [IndividualToo, FromTheTop, StillInTheirBlocks, NoneExtracted])
def test_a_race_of_the_wrong_candidates_is_rejected(kind: type[ArrayScores]) -> None:
    with pytest.raises(Rejected):
        check_below_the_second(kind=kind)


def test_an_acceptance_that_ignores_the_time_is_rejected() -> None:
    with pytest.raises(Rejected):
        check_at_a_time(HALF, FOUR, WithoutTime())


def test_times_that_forget_earlier_gaps_are_rejected() -> None:
    with pytest.raises(Rejected):
        check_two_proposals([2], Forgetful)


def test_floats_that_differ_from_what_they_estimate_are_rejected() -> None:
    """A filter of narrow words hardly decides, so floats are compared with the exact coins directly."""
    with pytest.raises(Rejected, match="too far off"):
        check_estimates(AtTheWrongEnd())
    with pytest.raises(Rejected, match="too far off"):
        check_estimates(ExponentialNoise(), OneProposalLate)


@pytest.mark.parametrize("kind", [TheLastOne, Misnumbered])
def test_arrivals_in_the_wrong_order_are_rejected(kind: type[Race]) -> None:
    with pytest.raises(Rejected):
        check_two_proposals([2], kind=kind)


def test_a_merge_that_forgets_how_high_the_winners_were_is_rejected() -> None:
    """The winners of the parts run again: right for single candidates, wrong for more."""
    scores = [1, 0, 0]

    def again(source: Randomness) -> int:
        second = 1 + int(gumbel_max().draw(scores[1:], source))
        return int(gumbel_max().draw([scores[0], scores[second]], source) and second)

    with pytest.raises(Rejected, match="wrong"):
        check(again, softmax(scores, ONE).__getitem__, range(3), Walk(16, Fraction(1, 4)))


@pytest.mark.parametrize("off", [Fraction(51, 50), Fraction(49, 50)], ids=str)
def test_a_scale_two_percent_off_is_rejected_without_a_sample(off: Fraction) -> None:
    scores = [0, 1, 2]
    found = enumerate_rounds(lambda source: int(gumbel_max(off).draw(scores, source)), 30)
    with pytest.raises(Rejected, match="wrong"):
        check_rounds(found, softmax(scores, ONE), Fraction(1, 2**20))
    pair = [0, 1]
    with pytest.raises(Rejected, match="wrong"):
        check(
            lambda source: int(exponential_max(off).draw(pair, source)),
            permute_and_flip(pair, ONE).__getitem__,
            range(2),
            Walk(16, Fraction(1, 2**8)),
        )


@pytest.mark.parametrize("wrong", ["max", "min"])
def test_the_wrong_end_of_the_scores_is_rejected(wrong: Any) -> None:
    scores: Sequence[int] = [0, 1] if wrong == "min" else [0, -1]
    found = enumerate_rounds(lambda source: int(gumbel_max(ONE, wrong).draw(scores, source)), 30)
    oriented = [1 - score for score in scores] if wrong == "max" else scores
    with pytest.raises(Rejected, match="wrong"):
        check_rounds(found, softmax(oriented, ONE), Fraction(1, 2**20))


def test_a_sampler_that_never_ends_is_rejected() -> None:
    def never(source: Randomness) -> int:
        while True:
            source.word()

    with pytest.raises(Rejected, match="open"):
        check(never, permute_and_flip([0, 1], ONE).__getitem__, range(2), Walk(8, Fraction(1, 2)))


def test_peeling_is_told_from_one_shot() -> None:
    """The closed forms differ by 0.016 in P(0, 1): far more than the bounds of the other tests leave open."""
    one_shot = exponential_top_k([0, -1, -2], 2, ONE)[0, 1].low
    peeled = permute_and_flip([0, -1, -2], ONE)[0].low * permute_and_flip([-1, -2], ONE)[0].low
    assert one_shot - peeled > Fraction(1, 64)
