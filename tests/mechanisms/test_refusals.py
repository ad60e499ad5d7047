"""What is refused, when, and in which words; and what is welcome."""

from __future__ import annotations

import gc
import math
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import repeat
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter, OutsideDomain, ReleaseFailed
from dpselect.exact.randomness import system
from dpselect.mechanisms import (
    make_exponential_mechanism,
    make_permute_and_flip,
    make_report_noisy_max,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
)
from dpselect.mechanisms.functions import TOO_FEW
from dpselect.privacy import (
    Measurement,
    approximate,
    atom_domain,
    linf_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    symmetric_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.domains import NOT_A_SCORE, NOT_A_VECTOR
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.draw import TooFewCandidates
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.scores import NotAScore, ScoreVector
from dpselect.selection.top_k import top_k_indices, top_k_noisy_scores
from dpselect.selection.winner import winner
from tests.exact.sources import untouchable
from tests.mechanisms.makers import (
    GUMBEL,
    SCORES,
    exponential_max,
    exponential_top,
    gumbel_max,
    gumbel_top,
    peeling,
    picking,
)
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, NOT_WHOLE, cases
from tests.privacy.leaks import CANARIES, leaks

WHOLE = vector_domain(atom_domain(int))


def build(kind: str, **changes: Any) -> Measurement:
    """Build a measurement by name, with some arguments changed."""
    arguments: dict[str, Any] = {
        "input_domain": SCORES,
        "input_metric": range_distance(),
        "scale": 1,
        "optimize": "max",
    }
    match kind:
        case "gumbel":
            return make_report_noisy_max_gumbel(**{**arguments, **changes})
        case "max":
            return make_report_noisy_max(**{**arguments, "privacy_measure": max_divergence(), **changes})
        case "top-k":
            return make_report_noisy_top_k(
                **{**arguments, "privacy_measure": max_divergence(), "k": 2, **changes}
            )
        case "flip":
            return make_permute_and_flip(**{**arguments, "k": 2, **changes})
        case _:
            return make_exponential_mechanism(**{**arguments, "candidates": ["a", "b", "c"], **changes})


KINDS = ["gumbel", "max", "top-k", "flip", "exponential"]


def refused(kind: str, **changes: Any) -> str:
    with pytest.raises(InvalidParameter) as caught:
        build(kind, **changes)
    return str(caught.value)


# At construction.


@pytest.mark.parametrize("kind", KINDS)
def test_a_nullable_domain_is_refused(kind: str) -> None:
    nullable = vector_domain(atom_domain(float, nullable=True))
    assert refused(kind, input_domain=nullable).startswith("input_domain must not be nullable; got ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "domain", [atom_domain(float), None, float, "float"], ids=["atom", "None", "type", "text"]
)
def test_what_is_no_domain_of_vectors_is_refused(kind: str, domain: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(kind, input_domain=domain))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "metric", [symmetric_distance(), None, "linf", linf_distance], ids=["people", "None", "text", "function"]
)
def test_what_is_no_metric_of_scores_is_refused(kind: str, metric: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(kind, input_metric=metric))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", **cases(NEGATIVE, NOT_FINITE, NOT_NUMBERS))
def test_a_scale_that_is_no_finite_number_from_zero_on_is_refused(kind: str, scale: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(kind, scale=scale))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "optimize",
    ["MAX", "", None, True, 1, max, ["max"], "largest", np.array(["max", "min"]), np.array("max")],
    ids=[
        "upper",
        "empty",
        "None",
        "True",
        "one",
        "function",
        "list",
        "word",
        "array",
        "0-d",
    ],
)
def test_an_unknown_direction_is_refused(kind: str, optimize: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(kind, optimize=optimize))


@pytest.mark.parametrize("kind", ["top-k", "flip"])
@pytest.mark.parametrize(
    "k", **cases({"0": 0, "2**32": 2**32, "2**31": 2**31}, NEGATIVE, NOT_FINITE, NOT_NUMBERS, NOT_WHOLE)
)
def test_a_k_that_is_no_whole_number_from_one_on_is_refused(kind: str, k: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(kind, k=k))


@pytest.mark.parametrize("kind", ["top-k", "flip"])
def test_the_largest_k(kind: str) -> None:
    assert build(kind, k=2**31 - 1).map(1) == 2**31 - 1


@pytest.mark.parametrize("kind", ["top-k", "flip"])
def test_more_winners_than_the_domain_has_candidates_are_refused(kind: str) -> None:
    domain = vector_domain(atom_domain(float), 3)
    assert "k must be" in refused(kind, k=4, input_domain=domain)
    assert len(build(kind, k=3, input_domain=domain)([1, 2, 3])) == 3


@pytest.mark.parametrize("kind", ["max", "top-k"])
@pytest.mark.parametrize(
    "measure",
    [None, "max", max_divergence, 1.0, linf_distance()],
    ids=["None", "text", "function", "number", "metric"],
)
def test_an_unknown_measure_is_refused(kind: str, measure: Any) -> None:
    sentence = refused(kind, privacy_measure=measure)
    assert HOUSE_SENTENCE.fullmatch(sentence)
    assert sentence.startswith("privacy_measure must be ")


def test_permute_and_flip_has_no_price_in_range_divergence() -> None:
    assert "use make_report_noisy_max" in refused("flip", privacy_measure=range_divergence())
    assert HOUSE_SENTENCE.fullmatch(refused("flip", privacy_measure="max"))
    assert HOUSE_SENTENCE.fullmatch(refused("flip", privacy_measure=None))


@pytest.mark.parametrize(
    "candidates",
    [[], (), "abc", {"a", "b"}, {"a": 1}, None, 3, iter("ab")],
    ids=["list", "tuple", "text", "set", "dict", "None", "number", "iterator"],
)
def test_candidates_are_a_list_or_a_tuple_of_at_least_one(candidates: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused("exponential", candidates=candidates))


@pytest.mark.parametrize(
    "candidates", [["a", "b", "a"], ["\u00e9", "e\u0301"], [1, 2, 1.0], [None, None], [[1], "a", "a"]]
)
def test_d4_a_candidate_that_is_listed_twice_is_refused(candidates: list[Any]) -> None:
    assert refused("exponential", candidates=candidates).startswith("candidates must be different")


@pytest.mark.parametrize("candidates", [["a", "A", "a "], [[1], [1]], [(1, []), (1, [])]])
def test_d4_no_other_spelling_is_the_same_candidate(candidates: list[Any]) -> None:
    assert build("exponential", candidates=candidates, scale=0)([*range(len(candidates))]) == candidates[-1]


@pytest.mark.parametrize("size", [2, 4])
def test_candidates_of_another_number_than_the_domain_says_are_refused(size: int) -> None:
    domain = vector_domain(atom_domain(float), size)
    assert HOUSE_SENTENCE.fullmatch(refused("exponential", input_domain=domain))


def test_the_candidates_are_kept_as_they_were() -> None:
    names = ["a", "b"]
    m = picking(names, 0)
    names[1] = "z"
    assert m([1, 2]) == "b"


@pytest.mark.parametrize(
    "measure",
    [max_divergence(), zero_concentrated_divergence(), renyi_divergence(), approximate(max_divergence())],
    ids=str,
)
def test_every_measure_with_a_price_is_welcome_everywhere(measure: Any) -> None:
    assert build("max", privacy_measure=measure)([5]) == 0
    assert build("top-k", privacy_measure=measure, scale=0)([5, 7, 6]) == [1, 2]
    assert build("flip", privacy_measure=measure, scale=0)([5, 7, 6]) == [1, 2]


# At the call, before any random bit is drawn.

BAD: dict[str, Any] = {
    "nan": [31337.25, math.nan],
    "nan-in-an-array": np.array([31337.25, math.nan, 8675309]),
    "nan-in-a-half": np.array([1.0, math.nan], dtype=np.float16),
    "plus-infinity": [31337.25, math.inf],
    "plus-infinity-in-an-array": np.array([math.inf, 31337.25]),
    "nan-in-a-longdouble": np.array([31337.25, math.nan], dtype=np.longdouble),
    "null": [31337.25, None],
    "null-in-an-object-array": np.array([31337.25, None], dtype=object),
    "masked": np.ma.array([31337.25, 8675309], mask=[False, True]),
    "decimal-nan": [Decimal("31337.25"), Decimal("NaN")],
    "empty": [],
    "empty-array": np.array([]),
    "bools": [True, False],
    "a-bool-array": np.array([True, False]),
    "complex": np.array([1j, 31337.25]),
    "texts": ["31337.25", "8675309"],
    "datetimes": np.array(["2024-01-01", "2025-01-01"], dtype="datetime64[D]"),
    "two-dimensional": np.array([[31337.25, 8675309]]),
    "no-dimension": np.array(31337.25),
    "nested": [[31337.25], [8675309]],
    "set": {31337.25, 8675309},
    "dict": {0: 31337.25, 1: 8675309},
    "text": "31337.25",
    "bytes": b"31337.25",
    "None": None,
    "a-number": 31337.25,
    "a-generator": (score for score in [31337.25]),
    "a-range": range(3),
    "only-ineligible": [-math.inf, -math.inf, -math.inf],
    "only-ineligible-array": np.full(3, -math.inf),
    "only-ineligible-fractions": [-math.inf, Decimal("-Infinity"), -math.inf],
}

DRAWS: dict[str, Callable[[Any], Measurement]] = {
    "gumbel": lambda way: gumbel_max(1, way),
    "exponential": lambda way: exponential_max(1, way),
    "gumbel-top": lambda way: gumbel_top(2, 1, way),
    "exponential-top": lambda way: exponential_top(2, 1, way),
    "peeling": lambda way: peeling(2, 1, way),
    "without-noise": lambda way: exponential_top(2, 0, way),
}


def refusal_of(act: Callable[[], object]) -> OutsideDomain:
    with pytest.raises(OutsideDomain) as caught:
        act()
    assert leaks(caught.value) == []
    return caught.value


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("way", ["max", "min"])
def test_bad_scores_are_refused_before_a_bit_is_drawn_and_without_naming_one(bad: Any, way: str) -> None:
    for make in DRAWS.values():
        m = make(way)
        first = refusal_of(partial(m.draw, bad, untouchable()))
        assert str(refusal_of(partial(m, bad))) == str(first)


@pytest.mark.parametrize("name", DRAWS)
def test_the_three_bad_values_get_one_sentence(name: str) -> None:
    m = DRAWS[name]("max")
    for bad in ([1.0, math.nan, 2.0], [1.0, math.inf, 2.0], np.array([1.0, math.nan, 2.0]), [1, None, 2]):
        assert str(refusal_of(partial(m.draw, bad, untouchable()))) == NOT_A_SCORE


@pytest.mark.parametrize("name", ["gumbel-top", "exponential-top", "peeling", "without-noise"])
@pytest.mark.parametrize("way", ["max", "min"])
@pytest.mark.parametrize(
    "scores",
    [
        [31337.25],
        np.array([31337.25]),
        [31337.25, -math.inf, -math.inf],
        [Fraction(1), -math.inf],
        np.append(31337.25, np.full(5000, -math.inf)),
    ],
    ids=["short", "short-array", "ineligible", "ineligible-fractions", "ineligible-in-columns"],
)
def test_fewer_than_k_that_may_win_are_refused(name: str, way: str, scores: Any) -> None:
    assert str(refusal_of(lambda: DRAWS[name](way).draw(scores, untouchable()))) == TOO_FEW


def test_a_wrong_length_is_refused() -> None:
    m = make_report_noisy_max(vector_domain(atom_domain(float), 3), range_distance(), max_divergence(), 1)
    for scores in ([31337.25], np.array([31337.25, 8675309.0]), [1, 2, 3, 4]):
        refusal_of(partial(m.draw, scores, untouchable()))
    refusal_of(lambda: picking(["a", "b"]).draw([31337.25], untouchable()))


@pytest.mark.parametrize(
    "scores", [[1.5, 2], np.array([1.0, 2.0]), [Fraction(1, 2), 1]], ids=["list", "array", "fraction"]
)
def test_a_domain_of_whole_numbers_refuses_others(scores: Any) -> None:
    m = make_report_noisy_max(WHOLE, range_distance(), max_divergence(), 1)
    refusal_of(lambda: m.draw(scores, untouchable()))


# Chunks.


def test_a_nan_in_the_last_chunk_ends_the_call_and_nothing_leaves_it() -> None:
    for m in (gumbel_max(), exponential_max(), gumbel_top(2), exponential_top(2), picking(["a", "b", "c"])):
        for last in ([math.nan], np.array([math.nan]), [math.inf], [None], np.array([math.inf, 1.0])):
            chunks = [[*CANARIES], last]
            assert str(refusal_of(partial(m.over, chunks))) == NOT_A_SCORE


def test_chunks_are_refused_when_there_are_too_few_scores_in_all() -> None:
    assert str(refusal_of(lambda: gumbel_top(3).over([[CANARIES[0]], [CANARIES[1]]]))) == TOO_FEW
    assert str(refusal_of(lambda: gumbel_max().over([]))) == TOO_FEW
    assert str(refusal_of(lambda: gumbel_max().over([[], np.array([]), [-math.inf]]))) == TOO_FEW
    refusal_of(lambda: picking(["a", "b", "c"]).over([[CANARIES[0]], [CANARIES[1]]]))


def test_peeling_does_not_merge_and_names_what_does() -> None:
    with pytest.raises(InvalidParameter, match="make_report_noisy_top_k") as caught:
        peeling(2).over([[*CANARIES]])
    assert leaks(caught.value) == []


def test_what_is_no_iterable_of_chunks_is_told_so_without_a_score() -> None:
    scores = tuple(CANARIES)
    for chunks in (None, 5, scores[0], "12", b"12", {scores}, frozenset([scores]), {scores: 1}):
        with pytest.raises(InvalidParameter, match="chunks must be arrays of scores in order") as caught:
            gumbel_max().over(chunks)  # type: ignore[arg-type]
        assert leaks(caught.value) == []
    assert str(refusal_of(lambda: gumbel_max().over([*CANARIES]))) == NOT_A_VECTOR


def test_a_stream_that_is_too_long_is_not_read_to_its_end() -> None:
    refusal_of(lambda: picking(["a", "b", "c"]).over(repeat([1.0])))


def test_a_generator_that_fails_takes_no_score_along() -> None:
    def chunks() -> Iterator[list[float]]:
        yield [*CANARIES]
        raise ValueError(CANARIES[0])

    with pytest.raises(ReleaseFailed) as caught:
        exponential_top(2).over(chunks())
    assert leaks(caught.value) == []


@pytest.mark.parametrize("make", [gumbel_top, exponential_top])
@pytest.mark.parametrize("way", ["max", "min"])
def test_without_noise_chunks_give_the_order_of_the_whole(make: Callable[..., Measurement], way: str) -> None:
    scores = [3.0, 1.0, -math.inf, 3.0, 2.0, 1.0]
    whole = make(4, 0, way)(scores)
    assert whole == ([0, 3, 4, 1] if way == "max" else [1, 5, 4, 0])
    for cut in range(7):
        parts: list[Any] = [scores[:cut], np.array(scores[cut:])]
        assert make(4, 0, way).over(parts) == whole
    assert (
        make(4, 0, way).over([[Fraction(score)] if score > -math.inf else [score] for score in scores])
        == whole
    )


def test_without_noise_chunks_that_floats_cannot_tell_apart_are_ordered() -> None:
    third, more = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)
    for make in (gumbel_top, exponential_top):
        assert make(2, 0).over([[third], [more]]) == [1, 0]
        assert make(2, 0).over([[more], [third]]) == [0, 1]
        assert make(2, 0).over([[third], [third]]) == [0, 1]


def test_too_few_eligible_candidates_have_no_noisy_scores() -> None:
    vectors: list[ScoreVector] = [
        FractionScores([Fraction(1), None], "max"),
        ArrayScores(np.array([1.0, -math.inf]), "max"),
    ]
    for vector in vectors:
        for scale in (Fraction(0), Fraction(1)):
            assert top_k_noisy_scores(vector, 2, scale, GUMBEL, untouchable()) is None
        assert top_k_indices(vector, 2, Fraction(1), GUMBEL, untouchable()) is None
        assert winner(vector, Fraction(1), GUMBEL, system()) == 0


def test_chunks_may_come_in_a_buffer_that_is_used_again() -> None:
    """Scores so large that floats cannot tell noisy scores apart, and the numbers behind them decide."""
    large = 2**60

    def reused() -> Iterator[Any]:
        buffer = np.empty(2, dtype=np.int64)
        for lead in (1000, 0, 500):
            buffer[:] = large + lead, large - 10**9
            yield buffer

    for make in (gumbel_top, exponential_top):
        assert [make(2).over(reused()) for _ in range(20)] == [[0, 4]] * 20


@pytest.mark.usefixtures("unmeasured")
def test_chunks_are_not_held_once_they_are_read() -> None:
    alive: list[weakref.ref[Any]] = []

    def fresh() -> Iterator[Any]:
        for i in range(5):
            chunk = np.array([2.0**60 + i, 0.0, 1.0])
            alive.append(weakref.ref(chunk))
            yield chunk
            del chunk
            gc.collect()
            assert sum(one() is not None for one in alive) <= 2

    for make in (gumbel_top, exponential_top):
        alive.clear()
        make(3).over(fresh())
        assert len(alive) == 5


def test_the_error_state_of_numpy_does_not_matter() -> None:
    far = np.full(5000, -800.0)
    far[:2] = 0
    tiny = np.array([5e-324, 0.0, 1.0] * 2000)
    with np.errstate(all="raise"):
        for m in (gumbel_max(), exponential_max(), gumbel_top(2), exponential_top(2)):
            for scores in (far, far[:20], tiny, tiny[:20], np.array([1e308, -1e308] * 3000)):
                assert m(scores) is not None
                m.over([scores, scores])
        for dtype in (np.float16, np.float32, np.float64):
            for bad in (math.nan, math.inf):
                with pytest.raises(OutsideDomain):
                    gumbel_max()(np.array([0.0, bad, 1.0] * 2000, dtype=dtype))


def test_candidates_are_picked_by_their_place_in_all_chunks() -> None:
    assert picking(["a", "b", "c"], 0).over([[1], [], np.array([3, 2])]) == "b"


# Welcome.


class Series:
    """What pandas, Polars and Arrow have in common."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.asarray(self._values, dtype=dtype, copy=copy)


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values


WELCOME: dict[str, Any] = {
    **{f"{np.dtype(kind)}": np.array([1, 0, 3, 2], dtype=kind) for kind in "bhilqBHILQefdg"},
    "big-endian": np.array([1, 0, 3, 2], dtype=">f8"),
    "big-endian-int": np.array([1, 0, 3, 2], dtype=">i4"),
    "read-only": read_only(np.array([1.0, 0.0, 3.0, 2.0])),
    "every-other": np.array([1, 9, 0, 9, 3, 9, 2, 9])[::2],
    "backwards": np.array([2.0, 3.0, 0.0, 1.0])[::-1],
    "a-column": np.array([[1, 9], [0, 9], [3, 9], [2, 9]])[:, 0],
    "not-moved": np.broadcast_to(np.array([[1], [0], [3], [2]]), (4, 5))[:, 3],
    "list": [1, 0, 3, 2],
    "tuple": (1.0, 0.0, 3.0, 2.0),
    "fractions": [Fraction(1), Fraction(0), Fraction(3), Fraction(2)],
    "decimals": [Decimal(1), Decimal(0), Decimal(3), Decimal(2)],
    "big": [10**400 + 1, 10**400, 10**400 + 3, 10**400 + 2],
    "mixed": [1, 0.0, Fraction(3), Decimal(2)],
    "numpy-numbers": [np.int8(1), np.float32(0), np.uint64(3), np.longdouble(2)],
    "objects": np.array([1, 0, 3, Fraction(2)], dtype=object),
    "a-series": Series([1, 0, 3, 2]),
    "a-series-of-floats": Series([1.0, 0.0, 3.0, 2.0]),
}


@pytest.mark.parametrize("scores", WELCOME.values(), ids=WELCOME)
def test_scores_of_every_kind_are_read_alike(scores: Any) -> None:
    for make in (gumbel_top, exponential_top, peeling):
        assert make(3, 0)(scores) == [2, 3, 0]
        assert make(3, 0, "min")(scores) == [1, 0, 3]
        assert make(3, "1e-3")(scores) == [2, 3, 0]
        assert make(3, "1e-3", "min")(scores) == [1, 0, 3]
        assert sorted(make(4, 1000)(scores)) == [0, 1, 2, 3]
    assert gumbel_max("1e-3")(scores) == exponential_max("1e-3")(scores) == 2
    assert gumbel_max("1e-3", "min")(scores) == exponential_max("1e-3", "min")(scores) == 1
    assert exponential_top(2, "1e-3").over([scores, [0.5]]) == [2, 3]


@pytest.mark.parametrize("n", [1, 3, 1024, 1025, 4096, 4097, 5004, 100_003])
@pytest.mark.parametrize("way", ["max", "min"])
def test_any_number_of_scores_is_welcome(n: int, way: Literal["max", "min"]) -> None:
    """Distances of a thousand scales: the leaders win but with a probability below exp(-900)."""
    scores = np.roll(np.arange(n, dtype=np.int64), n // 3)
    best = int(scores.argmax())
    turned = scores if way == "max" else -scores
    for make in (gumbel_max, exponential_max):
        assert make("1e-3", way)(turned) == best
        assert make("1e-3", way)(turned.astype(np.float64)) == best
    for make_two in (gumbel_top, exponential_top) if n > 1 else ():
        assert make_two(2, "1e-3", way)(turned) == [best, scores.tolist().index(n - 2)]


def test_more_than_two_million_scores_are_read_in_large_blocks() -> None:
    scores = np.zeros(2_000_003, dtype=np.int32)
    scores[[5, 1_999_999, 2_000_002]] = [3000, 2000, 1000]
    for make in (gumbel_top, exponential_top):
        assert make(3, 1)(scores) == [5, 1_999_999, 2_000_002]
        assert make(2, 1, "min")(-scores) == [5, 1_999_999]


@pytest.mark.parametrize("make", [gumbel_top, exponential_top])
@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([10**12 + 1, 10**12], "0.001"),
        ([10**12 + 1, 10**12, 10**12 - 1], "0.001"),
        ([2e304, 1e304], 10**301),
        ([10**400 + 10**399, 10**400], 10**396),
        ([Fraction(2, 10**317), Fraction(1, 10**317)], Fraction(1, 10**320)),
    ],
    ids=["large-scores", "large-scores-and-one-behind", "large-scale", "beyond-floats", "below-floats"],
)
def test_scores_that_floats_cannot_tell_apart_at_their_scale_are_ranked(
    make: Callable[..., Measurement],
    scores: Any,
    scale: Any,
) -> None:
    """Distances of a thousand scales."""
    assert make(2, scale)(scores) == [0, 1]


@pytest.mark.parametrize("make", [gumbel_max, exponential_max])
@pytest.mark.parametrize("n", [2, 5000])
def test_no_warning_tells_of_distances_beyond_all_floats(make: Callable[..., Measurement], n: int) -> None:
    scores = np.zeros(n)
    scores[1] = 1e308
    assert make("0.1")(scores) == 1


@pytest.mark.parametrize(
    "error", [OutsideDomain(f"the scores are {CANARIES}"), NotAScore(), TooFewCandidates()], ids=repr
)
def test_d8_the_maker_of_chunks_cannot_speak_through_the_refusal_of_the_domain(error: Exception) -> None:
    def talkative() -> Iterator[list[float]]:
        yield [*CANARIES]
        raise error

    with pytest.raises(ReleaseFailed) as caught:
        gumbel_max().over(talkative())
    assert leaks(caught.value) == []


@pytest.mark.parametrize("make", [gumbel_max, exponential_max, partial(gumbel_top, 2)])
@pytest.mark.parametrize("way", ["max", "min"])
def test_scores_are_not_copied_whichever_end_wins(make: Callable[..., Measurement], way: str) -> None:
    scores = np.sin(np.arange(300_000.0))
    m = make(scale=1, optimize=way)
    m(scores)
    tracemalloc.start()
    m(scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < scores.nbytes / 10
