"""Which candidates failed before their first success is drawn without times, with the law that times would
give.

What is under test: dpselect.selection.permute_and_flip_race.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.vector_samplers import is_below
from dpselect.selection import permute_and_flip_race as race_module
from dpselect.selection.permute_and_flip_race import PermuteAndFlipRace
from tests.exact.laws import PRECISION, Curve, Rejected, Walk, check
from tests.selection.cells import envelope_of

SCORES = [3.0, 2.0, 2.5, 0.0]

CLOSE = Fraction(1, 2**40)


def chance_of(asked: Sequence[tuple[int, int]], race: Sequence[bool], rate: Fraction) -> Enclosure:
    """Multiply out E prod (1 - exp(-a t)) exp(-b t'): a term exp(-(s_1 t_1 + ...)) is a product over gaps.

    The time of proposal m is a sum of m exponential gaps of this rate, and E exp(-s gap) = rate / (rate + s).
    """
    gaps_in_scales = [Fraction(max(SCORES)) - Fraction(SCORES[candidate]) for candidate, _ in asked]

    def formula(proposal_rate: Ball, *x: Ball) -> Ball:
        rates = [-(-one).expm1() for one in x]
        total = Ball(0)
        for chosen in product(*([False, True] if failed else [True] for failed in race)):
            sign = -1 if sum(one and failed for one, failed in zip(chosen, race, strict=True)) % 2 else 1
            term, number = Ball(sign), 0
            for i, (_, until) in enumerate(asked):
                later = sum((rates[j] for j in range(i, len(asked)) if chosen[j]), Ball(0))
                term *= (proposal_rate / (proposal_rate + later)) ** (until - number)
                number = until
            total += term
        return total

    return enclose(formula, rate, *gaps_in_scales, precision=PRECISION)


def check_failures(
    asked: Sequence[tuple[int, int]],
    walk: Walk,
    kind: type[PermuteAndFlipRace] = PermuteAndFlipRace,
    more: int = 0,
) -> None:
    """Ask about successes, each a candidate and a proposal, until a candidate did not fail before.

    ``more`` candidates tie with the threshold: proposals come faster.
    """
    envelope = envelope_of([*SCORES, *[max(SCORES)] * more], width=walk.width)

    def program(source: Randomness) -> tuple[bool, ...]:
        race = kind(envelope, source)
        answers = []
        for candidate, number in asked:
            answers.append(race.failed_before(candidate, number))
            if not answers[-1]:
                break
        return tuple(answers)

    def chance(answers: tuple[bool, ...]) -> Enclosure:
        return chance_of(asked[: len(answers)], answers, envelope.rate)

    check(program, chance, (), walk)


QUESTIONS: dict[str, list[tuple[int, int]]] = {
    "one": [(1, 1)],
    "a-late-one": [(3, 5)],
    "two": [(1, 2), (2, 3)],
    "two-far-apart": [(2, 1), (3, 6)],
    "three": [(2, 3), (1, 4), (3, 4)],
}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_candidates_fail_before_a_proposal_with_the_probability_that_times_give(
    asked: list[tuple[int, int]],
) -> None:
    check_failures(asked, Walk(15, Fraction(1, 2**3)))


@pytest.mark.parametrize("name", ["a-late-one", "two"])
def test_the_width_of_words_does_not_change_that_probability(name: str) -> None:
    check_failures(QUESTIONS[name], Walk(15, Fraction(1, 2**3), 3))


def test_a_candidate_that_ties_never_fails_and_one_that_failed_stays_failed() -> None:
    envelope = envelope_of(SCORES)
    for _ in range(200):
        race = PermuteAndFlipRace(envelope, system())
        assert not race.failed_before(0, 10**9)
        if race.failed_before(3, 2 * 10**9):
            assert race.failed_before(3, 3 * 10**9)
        early = PermuteAndFlipRace(envelope, system())
        if early.failed_before(3, 2):
            assert early.failed_before(3, 3)


class Forgetful(PermuteAndFlipRace):
    """A failure leaves no trace in what is known of the intervals."""

    def _record_failure(self, candidate: int, rate: float, intervals_before: int) -> None:
        known = self._intervals
        super()._record_failure(candidate, rate, intervals_before)
        self._intervals = [*known, known[-1]._replace(number=1)]


class InTheLastInterval(PermuteAndFlipRace):
    """A failure always falls into the last interval."""

    def _record_failure(self, candidate: int, rate: float, intervals_before: int) -> None:
        del intervals_before
        super()._record_failure(candidate, rate, sum(part.number for part in self._intervals) - 1)


class Whole(PermuteAndFlipRace):
    """The interval into which a failure falls is not split."""

    def _record_failure(self, candidate: int, rate: float, intervals_before: int) -> None:
        super()._record_failure(candidate, rate, intervals_before)
        final = self._intervals[-1]
        self._intervals[-1] = final._replace(number=final.number - 1)


@pytest.mark.parametrize("kind", [Forgetful, InTheLastInterval, Whole])
def test_wrong_failures_are_rejected(kind: type[PermuteAndFlipRace]) -> None:
    with pytest.raises(Rejected, match="wrong"):
        check_failures([(3, 2), (1, 2)], Walk(20, Fraction(1, 2**4)), kind)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("more", [6, 12])
@pytest.mark.parametrize("asked", [[(1, 1), (3, 2)], [(3, 3), (1, 4)], [(3, 2), (1, 2), (2, 3)]])
def test_where_proposals_come_fast_the_early_answer_is_right_too(
    asked: list[tuple[int, int]], more: int
) -> None:
    check_failures(asked, Walk(15, Fraction(1, 4)), more=more)
    check_failures(asked, Walk(15, Fraction(1, 2), 3), more=more)


def test_floats_and_balls_agree_on_the_probability_of_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def compared(number: Uniform, estimate: float, exactly: Curve) -> bool:
        low, high = exactly(100)
        assert low - CLOSE <= Fraction(estimate) <= high + CLOSE
        asked.append(estimate)
        return is_below(number, estimate, exactly)

    monkeypatch.setattr(race_module, "is_below", compared)
    envelope = envelope_of((-np.arange(30.0) / 10).tolist())
    for _ in range(60):
        race = PermuteAndFlipRace(envelope, system())
        _ = all(race.failed_before(candidate, 20 * (30 - candidate)) for candidate in range(29, 23, -1))
    assert len(asked) > 100
