"""Every path of the random bits is walked: the output follows the law of the paper, exactly.

What is under test: dpselect.selection.scores, dpselect.selection.envelope, dpselect.selection.poisson_times,
dpselect.selection.noise, dpselect.selection.race, dpselect.selection.permute_and_flip_race,
dpselect.selection.noisy_scores, dpselect.selection.top_k, dpselect.selection.top_k_by_levels and
dpselect.selection.winner, through dpselect.selection.draw, dpselect.mechanisms.functions and the constructors
dpselect.mechanisms.report_noisy_max_gumbel, dpselect.mechanisms.report_noisy_top_k,
dpselect.mechanisms.permute_and_flip and dpselect.mechanisms.exponential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest

from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness, system
from dpselect.privacy import Measurement
from dpselect.selection import winner as selection
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.noise import LaplaceNoise, NoiseLaw
from dpselect.selection.noisy_scores import NoisyScore, merged
from dpselect.selection.permute_and_flip_race import PermuteAndFlipRace
from dpselect.selection.race import Race
from dpselect.selection.scores import ScoreVector
from dpselect.selection.top_k import top_k_indices, top_k_noisy_scores
from dpselect.selection.winner import in_batches, one_by_one
from dpselect.utility import enclosed_law
from tests.exact.laws import Walk, check, permute_and_flip, softmax
from tests.exact.sources import Given
from tests.mechanisms.closed_forms import (
    check_rounds,
    exponential_top_k,
    gumbel_top_k,
    laplace_top_k,
    peeled_permute_and_flip,
)
from tests.mechanisms.makers import (
    EXPONENTIAL,
    GUMBEL,
    LAPLACE,
    ONE,
    exponential_max,
    exponential_top,
    gumbel_max,
    gumbel_top,
    laplace_top,
    peeling,
    picking,
)
from tests.mechanisms.race_checks import (
    EARLY,
    FOUR,
    HALF,
    LATE,
    NINE,
    NINTH,
    SIX,
    TEN,
    Way,
    check_at_a_time,
    check_below_the_second,
    check_blocks,
    check_estimates,
    check_first_arrival,
    check_two_proposals,
    envelope_of,
    in_blocks,
)

TINY = Fraction(1, 2**20)

PATTERNS: dict[str, list[Any]] = {
    "one": [5],
    "tied": [0, 0, 0],
    "spaced": [0, 1, 2],
    "two-leaders": [3, 1, 3],
    "floats": [0.1, 0.2, 0.3, 0.4],
    "nearly-tied": [1.0, math.nextafter(1.0, 2.0)],
    "fractions": [Fraction(1, 3), Fraction(2, 3), 1],
    "big": [10**400, 10**400 + 1],
}

SCALES = [ONE, Fraction(2, 3)]


def better(scores: Sequence[Any], optimize: str) -> list[Fraction]:
    return [Fraction(score) * (1 if optimize == "max" else -1) for score in scores]


# One winner.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_report_noisy_max_with_gumbel_noise_is_the_exponential_mechanism(
    scores: list[Any], scale: Fraction
) -> None:
    ways: list[Literal["max", "min"]] = ["max", "min"]
    for optimize in ways:
        program = partial(gumbel_max(scale, optimize).draw, scores)
        check_rounds(enumerate_rounds(program, 30), softmax(better(scores, optimize), scale), TINY)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", PATTERNS.values(), ids=PATTERNS)
def test_report_noisy_max_with_exponential_noise_is_permute_and_flip(scores: list[Any]) -> None:
    expected = permute_and_flip(better(scores, "max"), ONE)
    walk = Walk(16, Fraction(1, 2**4))
    m = exponential_max()
    check(lambda source: int(m.draw(scores, source)), expected.__getitem__, range(len(scores)), walk)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[0, 1, 2], [0.1, 0.2]], ids=str)
def test_where_the_smallest_score_is_the_best_permute_and_flip_orients_the_scores(scores: list[Any]) -> None:
    expected = permute_and_flip(better(scores, "min"), Fraction(2, 3))
    m = exponential_max(Fraction(2, 3), "min")
    walk = Walk(20, Fraction(1, 2**8))
    check(lambda source: int(m.draw(scores, source)), expected.__getitem__, range(len(scores)), walk)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", [2, 3, 4])
def test_the_width_of_the_words_does_not_change_the_law(width: int) -> None:
    scores = [0, 1, 2]
    found = enumerate_rounds(lambda source: gumbel_max().draw(scores, source), 20, width)
    check_rounds(found, softmax(scores, ONE), Fraction(1, 2**5))
    pair = [0, 1]
    check(
        lambda source: int(exponential_max().draw(pair, source)),
        permute_and_flip(pair, ONE).__getitem__,
        range(2),
        Walk(16, Fraction(1, 2**4), width),
    )


@pytest.mark.parametrize(
    "scores", [np.array([-np.inf, 1.0, 0.0]), [-math.inf, 1, Fraction(0)]], ids=["array", "list"]
)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_minus_infinity_never_wins_and_the_others_do_not_notice(
    scores: Any,
    optimize: Literal["max", "min"],
) -> None:
    oriented = better([1, 0], optimize)
    never = Enclosure(Fraction(0), Fraction(0))
    found = enumerate_rounds(lambda source: gumbel_max(ONE, optimize).draw(scores, source), 40)
    check_rounds(found, [never, *softmax(oriented, ONE)], TINY)
    expected = [never, *permute_and_flip(oriented, ONE)]
    walk = Walk(20, Fraction(1, 2**12))
    m = exponential_max(ONE, optimize)
    check(lambda source: int(m.draw(scores, source)), expected.__getitem__, range(3), walk)


@pytest.mark.parametrize("gap", [37, 40, 745, 746, 10**6])
def test_a3_a_candidate_far_behind_keeps_its_chance(gap: int) -> None:
    """The law encloses the closed form, which is above zero; a float would make it zero from 37 on."""
    found = enumerate_rounds(lambda source: gumbel_max().draw([gap, 0], source), 24)
    check_rounds(found, softmax([gap, 0], ONE), Fraction(1, 2**16))


def test_the_exponential_mechanism_gives_the_candidate_at_the_index() -> None:
    names = ["tea", "milk", "coffee"]
    m = picking(names)
    found = enumerate_rounds(lambda source: names.index(m.draw([0, 1, 2], source)), 36)
    check_rounds(found, softmax([0, 1, 2], ONE), TINY)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        (np.array([2**63 - 1, -(2**63), 2**63 - 2]), ONE),
        (np.array([127, -128, 126], dtype=np.int8), Fraction(100)),
        (np.array([2**64 - 1, 0, 2**64 - 3], dtype=np.uint64), Fraction(2)),
        (np.array([1e308, -1e308, 0.0]), Fraction(10**308)),
        (np.array([5e-324, 0.0, 1.5e-323]), Fraction(5e-324)),
        (np.array([1.0, 0.0, 2.0]), Fraction(1, 10**320)),
        (np.array([60000, -60000, 59000], dtype=np.float16), Fraction(10**4)),
        (np.array([2, 1, 0], dtype=np.longdouble), ONE),
        (np.array([0.1, 0.3], dtype=np.float32), Fraction(1, 7)),
    ],
    ids=["int64", "int8", "uint64", "1e308", "subnormal", "tiny-scale", "float16", "longdouble", "float32"],
)
def test_numbers_at_the_edge_of_their_type_follow_the_same_law(scores: Any, scale: Fraction) -> None:
    exact = [
        Fraction(*value.as_integer_ratio()) if value.dtype.kind == "f" else Fraction(int(value))
        for value in scores
    ]
    found = enumerate_rounds(lambda source: gumbel_max(scale).draw(scores, source), 30)
    check_rounds(found, softmax(exact, scale), TINY)
    check(
        lambda source: int(exponential_max(scale).draw(scores, source)),
        permute_and_flip(exact, scale).__getitem__,
        range(len(exact)),
        Walk(16, Fraction(1, 2**5)),
    )


# Blocks of more than one candidate.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("way", ["noted", "batched"])
@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("scores", [SIX, SIX[:5]], ids=["full", "one-missing"])
def test_a_round_over_blocks_accepts_in_proportion_to_the_weights(
    scores: list[float], optimize: Literal["max", "min"], way: Way
) -> None:
    check_blocks(optimize=optimize, way=way, scores=scores)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [TEN, NINE], ids=["ten", "nine"])
def test_a_round_relative_to_the_second_best_leaves_the_best_out(scores: list[float]) -> None:
    check_below_the_second(scores)


@pytest.mark.parametrize("scores", [[0.0, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], ids=["even", "one-left-over"])
def test_batches_over_blocks_select_by_the_exponential_mechanism(scores: list[float]) -> None:
    envelope = envelope_of(in_blocks(scores))
    check(
        lambda source: in_batches(envelope, None, source, 1),
        softmax(scores, ONE).__getitem__,
        range(len(scores)),
        Walk(12, Fraction(3, 5)),
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[1.0, 0.0], [2.0, 1.2, 1.0], FOUR], ids=["two", "three", "four"])
def test_the_first_to_arrive_with_exponential_noise_wins_permute_and_flip(scores: list[float]) -> None:
    check_first_arrival(scores, Walk(14, Fraction(1, 2)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[1.0, 0.0], [2.0, 1.2, 1.0]], ids=["two", "three"])
def test_so_does_the_first_to_arrive_with_one_proposal_at_a_time(scores: list[float]) -> None:
    envelope = envelope_of(ArrayScores(np.array(scores), "max"))
    check(
        lambda source: one_by_one(envelope, PermuteAndFlipRace(envelope, source), source),
        permute_and_flip(scores, ONE).__getitem__,
        range(len(scores)),
        Walk(14, Fraction(1, 2)),
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("word", [HALF, NINTH, EARLY, LATE], ids=["half", "ninth", "early", "late"])
@pytest.mark.parametrize("scores", [SIX, FOUR], ids=["six", "four"])
def test_given_its_time_a_proposal_is_accepted_as_exponential_noise_demands(
    word: int, scores: list[float]
) -> None:
    check_at_a_time(word, scores)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("word", [HALF, NINTH, EARLY, LATE], ids=["half", "ninth", "early", "late"])
@pytest.mark.parametrize("scores", [SIX, FOUR], ids=["six", "four"])
def test_with_laplace_noise_half_as_many_arrive_and_ties_are_no_exception(
    word: int, scores: list[float]
) -> None:
    check_at_a_time(word, scores, LAPLACE, odds=2)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("batches", [[1, 1], [2]], ids=["one-by-one", "together"])
def test_the_second_proposal_is_timed_by_both_gaps(batches: list[int]) -> None:
    check_two_proposals(batches)


@pytest.mark.parametrize("noise", [GUMBEL, EXPONENTIAL])
def test_of_many_arrivals_the_first_are_noted(noise: NoiseLaw) -> None:
    """On equal words, a race that is told how many are wanted notes the same ones first."""
    words = [system().word() for _ in range(1000)]
    envelope = envelope_of(ArrayScores(np.zeros(9), "max"), width=64)
    noted = []
    for wanted in (math.inf, 4):
        race = Race(envelope, noise, Given(words))
        race.run(200, wanted)
        noted.append(list(race.arrivals.items()))
    assert len(noted[0]) > 4
    assert noted[1] == noted[0][:4]


def test_the_floats_of_the_filter_are_as_close_to_the_exact_probabilities_as_the_filter_demands() -> None:
    for noise in (GUMBEL, EXPONENTIAL, LAPLACE):
        check_estimates(noise)


# Several winners, and parts that merge.


def two_best(vector: ScoreVector, source: Randomness, way: str) -> tuple[int, ...]:
    if way == "indices":
        return tuple(top_k_indices(vector, 2, ONE, GUMBEL, source, batch=1) or [])
    drawn = top_k_noisy_scores(vector, 2, ONE, GUMBEL, source, batch=1)
    return tuple(noisy_score.candidate for noisy_score in drawn or [])


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("way", ["indices", "noisy scores"])
@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0], [3.0, 1.0, 1.0], [0.0, 0.0, 0.0]], ids=str)
def test_the_two_best_of_three_with_gumbel_noise_are_drawn_as_if_peeled(
    scores: list[float], way: str
) -> None:
    law = gumbel_top_k(scores, 2, ONE)
    vectors: list[ScoreVector] = [
        ArrayScores(np.array(scores), "max"),
        FractionScores([Fraction(score) for score in scores], "max"),
    ]
    for vector in vectors:
        check(partial(two_best, vector, way=way), law.__getitem__, [], Walk(10, Fraction(49, 50)))


def ordered(m: Measurement, scores: list[Any], source: Randomness) -> tuple[int, ...]:
    return tuple(m.draw(scores, source))


FEW_SCORES: dict[str, list[Any]] = {
    "spaced": [0, 1, 2],
    "tied": [0, 0, 0],
    "two-leaders": [3, 1, 3],
    "a-tie-behind": [1.0, 0.0, 0.0],
    "fractions": [Fraction(1, 3), 1, Fraction(2, 3)],
}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", FEW_SCORES.values(), ids=FEW_SCORES)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_the_two_best_of_few_with_exponential_noise_are_drawn_at_once(
    scores: list[Any], optimize: Literal["max", "min"]
) -> None:
    law = exponential_top_k(better(scores, optimize), 2, ONE)
    m = exponential_top(2, ONE, optimize)
    check(partial(ordered, m, scores), law.__getitem__, law, Walk(20, Fraction(1, 2**8)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_best_of_four_with_exponential_noise_are_drawn_at_once(k: int) -> None:
    scores = [2, 0, 1, 1]
    law = enclosed_law(scores, noise="exponential", scale=Fraction(2, 3), k=k)
    m = exponential_top(k, Fraction(2, 3))
    check(partial(ordered, m, scores), law.__getitem__, law, Walk(20, Fraction(1, 2**3)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", FEW_SCORES.values(), ids=FEW_SCORES)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_the_two_best_of_few_with_gumbel_noise_are_drawn_as_if_peeled(
    scores: list[Any], optimize: Literal["max", "min"]
) -> None:
    law = gumbel_top_k(better(scores, optimize), 2, ONE)
    m = gumbel_top(2, ONE, optimize)
    check(partial(ordered, m, scores), law.__getitem__, law, Walk(13, Fraction(1, 2)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[2, 0], [0.25, 1.0], [Fraction(1, 3), 1]], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_the_best_of_two_with_laplace_noise_have_the_law_of_two_laplace_numbers(
    scores: list[Any], k: int
) -> None:
    for optimize in ("max", "min"):
        law = laplace_top_k(better(scores, optimize), k, ONE)
        m = laplace_top(k, ONE, optimize)
        check(partial(ordered, m, scores), law.__getitem__, law, Walk(12, Fraction(1, 8)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[3, 0, 1], [0, 0, 2]], ids=str)
def test_the_two_best_of_three_with_laplace_noise_have_the_law_of_three_laplace_numbers(
    scores: list[Any],
) -> None:
    law = laplace_top_k(scores, 2, Fraction(2, 3))
    check(
        partial(ordered, laplace_top(2, Fraction(2, 3)), scores),
        law.__getitem__,
        law,
        Walk(12, Fraction(3, 5)),
    )


class FewIndividual(LaplaceNoise):
    """Has one individual candidate for each winner: often too few of them exceed the threshold."""

    def threshold_rank(self, k: int) -> int:
        return k + 1


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[2.0, 0.0, 1.0], [1.0, 1.0, 0.0]], ids=str)
def test_whether_enough_individual_candidates_exceed_the_threshold_or_not_the_law_is_the_same(
    scores: list[float],
) -> None:
    """Either the others race, or all of them are drawn as well: both ways are walked, and both are taken."""
    law = laplace_top_k(scores, 1, ONE)
    vector = ArrayScores(np.array(scores), "max")

    def program(source: Randomness) -> tuple[int, ...]:
        return tuple(top_k_indices(vector, 1, ONE, FewIndividual(), source, batch=1) or [])

    check(program, law.__getitem__, law, Walk(11, Fraction(9, 10)))


@pytest.mark.usefixtures("unmeasured")
def test_an_ineligible_candidate_is_not_among_the_best() -> None:
    scores = [-math.inf, 1.0, 0.0]
    for m, of in (
        (gumbel_top(2), gumbel_top_k),
        (exponential_top(2), exponential_top_k),
        (laplace_top(2), laplace_top_k),
    ):
        law = {tuple(i + 1 for i in order): p for order, p in of([1.0, 0.0], 2, ONE).items()}
        check(partial(ordered, m, scores), law.__getitem__, law, Walk(12, Fraction(1, 2)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "optimize"), [([0, 1, 2], "max"), ([0, -1, -2], "min")])
def test_permute_and_flip_for_one_winner_is_permute_and_flip(
    scores: list[int], optimize: Literal["max", "min"]
) -> None:
    law = permute_and_flip([0, 1, 2], ONE)
    m = peeling(1, ONE, optimize)
    check(lambda source: m.draw(scores, source)[0], law.__getitem__, range(3), Walk(16, Fraction(1, 2**4)))


@pytest.mark.parametrize("scores", [np.array([-math.inf, 5.0, 1.0]), [-math.inf, 5, Fraction(1)]])
def test_winners_are_numbered_among_all_scores_even_if_some_are_ineligible(scores: Any) -> None:
    for k in (1, 2):
        assert peeling(k, Fraction(1, 1000), "min")(scores) == [2, 1][:k]


@pytest.mark.parametrize("size", [40, 5000])
def test_the_best_wins_by_all_that_an_integer_can_hold(size: int) -> None:
    scores = np.full(size, -(2**63))
    scores[3] = 2**63 - 1
    for m in (gumbel_max(), exponential_max()):
        assert {m(scores) for _ in range(20)} == {3}


def test_no_index_beyond_an_array_that_is_not_contiguous_wins() -> None:
    assert all(0 <= gumbel_max()(np.zeros(2 * 5003)[::2]) < 5003 for _ in range(30))


@pytest.mark.usefixtures("unmeasured")
def test_two_rounds_of_permute_and_flip_are_peeled() -> None:
    """x = (0, -1, -2): P(0, 1) = 0.62428 (math of peeling), where one shot would give 0.64042."""
    law = peeled_permute_and_flip([0, -1, -2], 2, ONE)
    m = peeling(2)
    check(
        lambda source: tuple(m.draw([0, -1, -2], source)), law.__getitem__, law, Walk(20, Fraction(1, 2**6))
    )
    assert round(float(law[0, 1].low), 5) == 0.62428


def test_the_closed_forms_are_those_of_the_literature() -> None:
    one_shot = exponential_top_k([0, -1, -2], 2, ONE)
    assert round(float(one_shot[0, 1].low), 5) == 0.64042
    assert round(float(gumbel_top_k([0, -1, -2], 2, ONE)[0, 1].low), 5) == 0.48633
    assert float(sum(p.low for p in one_shot.values())) == pytest.approx(1, abs=1e-15)
    single = exponential_top_k([0.1, 0.2, 0.7], 1, ONE)
    for i, probability in enumerate(permute_and_flip([0.1, 0.2, 0.7], ONE)):
        assert single[i,].low <= probability.low <= probability.high <= single[i,].high


@pytest.mark.parametrize("parts", [[[0.0], [1.0]], [[1.0], [0.0, 0.0]]], ids=str)
def test_parts_with_gumbel_noise_merge_to_the_law_of_the_whole(parts: list[list[float]]) -> None:
    whole = [score for part in parts for score in part]

    def program(source: Randomness) -> int:
        best: list[NoisyScore] = []
        seen = 0
        for part in parts:
            drawn = top_k_noisy_scores(ArrayScores(np.array(part), "max"), 1, ONE, GUMBEL, source, batch=1)
            assert drawn is not None
            for one in drawn:
                one.candidate += seen
            best = merged(best, drawn, 1)
            seen += len(part)
        return best[0].candidate

    check(program, softmax(whole, ONE).__getitem__, [], Walk(10, Fraction(49, 50)))


def test_a_weight_below_the_precision_takes_no_exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    """At such a scale floats say nothing, and the exponent has a thousand bits."""

    def exp(x: Fraction, precision: int) -> Enclosure:
        assert x > -(2**10)
        return enclosures.exp(x, precision)

    monkeypatch.setattr(selection, "exp", exp)
    assert {exponential_max("1e-305")([1.0, 0.0, 1.0, 1 - 2**-53]) for _ in range(100)} == {0, 2}


class Noted(PermuteAndFlipRace):
    """Notes the proposals it is asked about; the candidates of the first five have failed before."""

    def failed_before(self, candidate: int, number: int) -> bool:
        self.asked = [*getattr(self, "asked", []), number]
        return candidate < 0 or len(self.asked) <= 5


@pytest.mark.parametrize("way", ["one by one", "in batches"])
def test_proposals_are_numbered_from_one(way: str) -> None:
    """All weights are 1: every proposal is accepted."""
    envelope = envelope_of(ArrayScores(np.zeros(4), "max", 1 if way == "one by one" else 2))
    noted = Noted(envelope, system())
    if way == "one by one":
        one_by_one(envelope, noted, system())
    else:
        in_batches(envelope, noted, system(), 2)
    assert noted.asked == [1, 2, 3, 4, 5, 6]
