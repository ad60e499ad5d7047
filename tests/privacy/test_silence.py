"""D6, D8, D9, D10: an error that was raised while scores were in reach holds none of them."""

import datetime as dt
import os
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter, OutsideDomain, RandomnessFailed, ReleaseFailed
from dpselect.exact.partial_numbers import Exponential, Gumbel, PartialNumber
from dpselect.exact.randomness import Randomness, system
from dpselect.privacy import (
    Measurement,
    atom_domain,
    max_divergence,
    range_distance,
    user_measurement,
    vector_domain,
)
from dpselect.privacy.domains import NOT_A_SCORE, AtomDomain, VectorDomain
from tests.privacy import leaky_copies
from tests.privacy.leaks import CANARIES, holds_a_canary, leaks

SCORES = vector_domain(atom_domain(float))


class Tape:
    """A source of as many words as it has, all of them zero; then it fails."""

    width = 1

    def __init__(self, length: int) -> None:
        self.left = length

    def word(self) -> int:
        if not self.left:
            raise RandomnessFailed
        self.left -= 1
        return 0

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: object) -> None:
        """Do nothing."""


def measure(function: Callable[[Any], Any], domain: AtomDomain | VectorDomain = SCORES) -> Measurement:
    return user_measurement(
        input_domain=domain,
        input_metric=range_distance(),
        output_measure=max_divergence(),
        function=function,
        privacy_map=lambda d_in: d_in,
    )


def same(output: object) -> object:
    return output


WAYS_TO_CALL: dict[str, Callable[[Measurement, Any], Any]] = {
    "m(arg)": lambda m, arg: m(arg),
    "m.draw(arg, system())": lambda m, arg: m.draw(arg, system()),
    "m.draw(arg, tape)": lambda m, arg: m.draw(arg, Tape(8)),
    "(m >> f)(arg)": lambda m, arg: (m >> same)(arg),
    "(m >> f >> g).draw(arg, tape)": lambda m, arg: (m >> same >> same).draw(arg, Tape(8)),
}
WAYS_TO_HOLD: dict[str, Callable[[], Any]] = {
    "list": lambda: list(CANARIES),
    "tuple": lambda: tuple(CANARIES),
    "array": lambda: np.array(CANARIES),
    "object-array": lambda: np.array(CANARIES, dtype=object),
    "fractions": lambda: [Fraction(score) for score in CANARIES],
    "decimals": lambda: [Decimal(score) for score in CANARIES],
    "numpy-scalars": lambda: [np.float64(CANARIES[0]), np.int64(CANARIES[1])],
}

each_call = pytest.mark.parametrize("call", WAYS_TO_CALL.values(), ids=list(WAYS_TO_CALL))
each_container = pytest.mark.parametrize("hold", WAYS_TO_HOLD.values(), ids=list(WAYS_TO_HOLD))


# The check itself.


@pytest.mark.parametrize("leaky", leaky_copies.LEAKY)
def test_d9_the_check_finds_a_leak_of_every_kind(leaky: Callable[[list[float]], None]) -> None:
    with pytest.raises(RuntimeError) as caught:
        leaky(list(CANARIES))
    assert leaks(caught.value, Path(leaky_copies.__file__)) != []


def test_d9_the_check_accepts_a_refusal_that_let_go_of_the_scores() -> None:
    with pytest.raises(RuntimeError) as caught:
        leaky_copies.lets_go_before_it_refuses(list(CANARIES))
    assert leaks(caught.value, Path(leaky_copies.__file__)) == []


@each_container
def test_d9_the_check_knows_a_canary_in_every_container(hold: Callable[[], Any]) -> None:
    assert holds_a_canary(hold())
    assert holds_a_canary({"deep": [(hold(),)]})
    assert holds_a_canary(str(hold()))
    assert not holds_a_canary([1, 2.5, "0x7f3133731337", b"", None, Decimal("sNaN")])


# The functions of measurements.


class Seen(Exception):
    """What a user's code might raise."""

    def __init__(self, scores: object) -> None:
        super().__init__()
        self.scores = scores


def raises_the_scores(scores: object) -> NoReturn:
    raise ValueError(scores)


def raises_from_a_nested_call(scores: object) -> NoReturn:
    def inner(again: object) -> NoReturn:
        raises_the_scores(again)

    inner(scores)


def raises_within_an_except(scores: object) -> NoReturn:
    try:
        raises_the_scores(scores)
    except ValueError as error:
        text = f"again: {error}"
        raise RuntimeError(text)  # noqa: B904 - the implicit context is the point


def raises_from_a_cause(scores: object) -> NoReturn:
    raise LookupError from ValueError(scores)


def raises_with_a_note(scores: object) -> NoReturn:
    error = ValueError()
    error.add_note(str(scores))
    raise error


def raises_with_a_field(scores: object) -> NoReturn:
    raise Seen(scores)


def raises_a_group(scores: object) -> NoReturn:
    text = "several"
    raise ExceptionGroup(text, [ValueError(scores)])


def raises_a_refusal_of_ours(scores: object) -> NoReturn:
    raise InvalidParameter(str(scores))


def raises_as_if_outside_the_domain(scores: object) -> NoReturn:
    raise OutsideDomain(str(scores))


def raises_stop_iteration(scores: object) -> NoReturn:
    raise StopIteration(scores)


def divides_by_zero(scores: Any) -> object:
    return scores[0] / 0 if isinstance(scores, list | tuple) else 1 // 0


def never_returns(scores: object) -> object:
    return never_returns(scores)


def asserts(scores: object) -> None:
    assert scores is None, scores


FAILING = [
    raises_the_scores,
    raises_from_a_nested_call,
    raises_within_an_except,
    raises_from_a_cause,
    raises_with_a_note,
    raises_with_a_field,
    raises_a_group,
    raises_a_refusal_of_ours,
    raises_as_if_outside_the_domain,
    raises_stop_iteration,
    divides_by_zero,
    never_returns,
    asserts,
]


@each_call
@pytest.mark.parametrize("failing", FAILING)
def test_d6_a_function_that_fails_is_reported_by_one_constant_sentence_without_a_score(
    failing: Callable[[Any], Any], call: Callable[[Measurement, Any], Any]
) -> None:
    for hold in WAYS_TO_HOLD.values():
        with pytest.raises(ReleaseFailed) as caught:
            call(measure(failing), hold())
        assert str(caught.value) == str(ReleaseFailed())
        assert leaks(caught.value) == []


@each_call
def test_d9_a_score_that_is_no_vector_is_not_kept_either(call: Callable[[Measurement, Any], Any]) -> None:
    for score in CANARIES:
        with pytest.raises(ReleaseFailed) as caught:
            call(measure(raises_the_scores, atom_domain(float)), score)
        assert leaks(caught.value) == []


def interrupts(scores: object) -> NoReturn:
    held = [scores]
    raise KeyboardInterrupt from ValueError(held)


def interrupts_within_an_except(scores: object) -> NoReturn:
    try:
        raises_the_scores(scores)
    except ValueError:
        raise KeyboardInterrupt  # noqa: B904 - the implicit context is the point


def interrupts_with_the_scores(scores: object) -> NoReturn:
    raise KeyboardInterrupt(scores)


def interrupts_with_a_note(scores: object) -> NoReturn:
    error = KeyboardInterrupt()
    error.add_note(str(scores))
    raise error


def exits(scores: object) -> NoReturn:
    held = {"scores": scores}
    del held
    raise SystemExit


def exits_with_the_scores(scores: object) -> NoReturn:
    raise SystemExit(scores)


@each_call
@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (interrupts, KeyboardInterrupt),
        (interrupts_within_an_except, KeyboardInterrupt),
        (interrupts_with_the_scores, KeyboardInterrupt),
        (interrupts_with_a_note, KeyboardInterrupt),
        (exits, SystemExit),
        (exits_with_the_scores, SystemExit),
    ],
)
def test_d9_ctrl_c_passes_through_without_the_frames_and_errors_that_hold_scores(
    function: Callable[[Any], Any], kind: type[BaseException], call: Callable[[Measurement, Any], Any]
) -> None:
    for hold in WAYS_TO_HOLD.values():
        with pytest.raises(kind) as caught:
            call(measure(function), hold())
        assert leaks(caught.value) == []
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        assert function.__name__ not in names


def test_d9_an_error_of_a_function_does_not_outlive_the_refusal() -> None:
    def nested(scores: object) -> NoReturn:
        raises_within_an_except(scores)

    with pytest.raises(ReleaseFailed) as caught:
        measure(nested)(list(CANARIES))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# Randomness that fails.


class NeedsWords:
    """A draw that reads words while it holds scores."""

    def __init__(self, words: int) -> None:
        self.words = words

    def __call__(self, scores: Any, randomness: Randomness, /) -> object:
        held = list(scores)
        for _ in range(self.words):
            randomness.word()
        return int(randomness.words(1)[0]) + 0 * len(held)


def needs(words: int) -> Measurement:
    return Measurement(SCORES, range_distance(), max_divergence(), NeedsWords(words), lambda d_in: d_in)


@each_container
@pytest.mark.parametrize("length", range(6))
def test_b8_randomness_that_fails_after_any_number_of_words_says_one_constant_sentence(
    hold: Callable[[], Any], length: int
) -> None:
    for measurement in (needs(5), needs(5) >> same):
        with pytest.raises(RandomnessFailed) as caught:
            measurement.draw(hold(), Tape(length))
        assert str(caught.value) == str(RandomnessFailed())
        assert leaks(caught.value) == []
    assert needs(5).draw(hold(), Tape(6)) == 0


@each_container
def test_b8_a_system_without_randomness_says_one_constant_sentence(
    hold: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(size: int) -> bytes:
        raise OSError(size)

    monkeypatch.setattr(os, "urandom", fails)
    more_than_is_read_ahead = needs(3000)
    for measurement in (more_than_is_read_ahead, more_than_is_read_ahead >> same):
        with pytest.raises(RandomnessFailed) as caught:
            measurement(hold())
        assert str(caught.value) == str(RandomnessFailed())
        assert leaks(caught.value) == []


@each_container
@pytest.mark.parametrize("bad", [None, 5, "x", object()], ids=lambda bad: type(bad).__name__)
def test_d9_what_is_no_randomness_is_refused_without_a_score(hold: Callable[[], Any], bad: Any) -> None:
    for measurement in (needs(0), needs(0) >> same):
        with pytest.raises(InvalidParameter, match=r"^randomness must be ") as caught:
            measurement.draw(hold(), bad)
        assert leaks(caught.value) == []


# Domains.


class Unreadable:
    """A column that says what it holds when it cannot be converted."""

    def __array__(self, dtype: object = None, *, copy: bool | None = None) -> NoReturn:
        raise ValueError(CANARIES, dtype, copy)


def generated() -> Iterator[float]:
    yield from CANARIES


OUTSIDE: dict[str, Any] = {
    "text": "31337.25, 8675309",
    "bytes": b"31337.25",
    "number": CANARIES[0],
    "set": set(CANARIES),
    "frozenset": frozenset(CANARIES),
    "dict": dict.fromkeys(CANARIES, 1),
    "generator": generated(),
    "range": range(8675309, 8675310),
    "nested-lists": [list(CANARIES)],
    "two-dimensional-array": np.array([CANARIES]),
    "scalar-array": np.array(CANARIES[0]),
    "numpy-scalar": np.float64(CANARIES[0]),
    "text-elements": ["31337.25", "8675309"],
    "text-array": np.array(["31337.25", "8675309"]),
    "a-bool-among-them": [*CANARIES, True],
    "a-numpy-bool-among-them": [*CANARIES, np.True_],
    "complex": [complex(31337.25)],
    "complex-array": np.array(CANARIES, dtype=complex),
    "datetimes": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), *CANARIES],
    "datetime-array": np.array([8675309], dtype="datetime64[s]"),
    "timedelta-array": np.array([8675309], dtype="timedelta64[s]"),
    "structured-array": np.array([CANARIES], dtype=[("a", float), ("b", int)]),
    "object-array-of-text": np.array([CANARIES[0], "31337"], dtype=object),
    "object-array-with-none": np.array([CANARIES[0], None], dtype=object),
    "none-among-them": [*CANARIES, None],
    "nan-among-them": [*CANARIES, float("nan")],
    "nan-in-an-array": np.array([*CANARIES, np.nan]),
    "infinity-in-an-array": np.array([*CANARIES, np.inf]),
    "unreadable": Unreadable(),
    "masked-array": np.ma.masked_array([*CANARIES, 0], [False, False, True]),
    "none": None,
}

each_stranger = pytest.mark.parametrize("outside", OUTSIDE.values(), ids=list(OUTSIDE))


@each_stranger
def test_d8_what_is_outside_the_domain_is_refused_without_a_score(outside: object) -> None:
    for call in WAYS_TO_CALL.values():
        with pytest.raises(OutsideDomain) as caught:
            call(measure(same), outside)
        assert leaks(caught.value) == []


@each_stranger
def test_d8_a_domain_that_is_asked_directly_refuses_without_a_score(outside: object) -> None:
    for domain in (SCORES, vector_domain(atom_domain(int)), vector_domain(atom_domain(float), size=7)):
        with pytest.raises(OutsideDomain) as caught:
            domain.check(outside)
        assert leaks(caught.value) == []


@each_container
@each_call
def test_d8_scores_of_the_wrong_length_are_refused_without_a_score(
    hold: Callable[[], Any], call: Callable[[Measurement, Any], Any]
) -> None:
    with pytest.raises(OutsideDomain, match=r"scores must be 3 in number, as the domain says\.") as caught:
        call(measure(same, vector_domain(atom_domain(float), size=3)), hold())
    assert leaks(caught.value) == []


@pytest.mark.parametrize("score", ["31337.25", [CANARIES[1]], CANARIES[0], complex(31337.25)])
def test_d8_a_single_score_outside_its_domain_is_refused_without_it(score: object) -> None:
    domain = atom_domain(int)
    for check in (domain.check, measure(same, domain)):
        with pytest.raises(OutsideDomain) as caught:
            check(score)
        assert leaks(caught.value) == []


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize(
    "excluded",
    [
        None,
        float("nan"),
        np.float32("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        float("inf"),
        np.float16("inf"),
        Decimal("Infinity"),
    ],
    ids=repr,
)
def test_a7_null_nan_and_infinity_get_the_same_sentence_at_every_position(
    excluded: object, position: int
) -> None:
    scores: list[Any] = [*CANARIES, 0]
    scores.insert(position, excluded)
    sentences = set()
    for vector in (scores, tuple(scores), np.array(scores, dtype=object)):
        with pytest.raises(OutsideDomain) as caught:
            measure(same)(vector)
        assert leaks(caught.value) == []
        sentences.add(str(caught.value))
    if isinstance(excluded, float | np.floating):
        with pytest.raises(OutsideDomain) as caught:
            measure(same)(np.array(scores))
        assert leaks(caught.value) == []
        sentences.add(str(caught.value))
    assert sentences == {NOT_A_SCORE}


# Partially sampled numbers.


def test_d10_a_noisy_number_shows_neither_its_shift_nor_its_bits() -> None:
    number = Gumbel(CANARIES[0], 1, system())
    number.refine()
    assert repr(number) == f"{number}" == "<Gumbel number, 64 bits drawn>"


each_noise = pytest.mark.parametrize("noise", [Gumbel, Exponential])


@each_noise
@pytest.mark.parametrize(
    ("scale", "randomness"), [(-1, system()), (0, system()), (None, system()), (1, None)]
)
def test_d9_a_noisy_number_refuses_its_parameters_without_the_score(
    noise: Callable[[object, Any, Any], PartialNumber],
    scale: Any,
    randomness: Any,
) -> None:
    for score in CANARIES:
        with pytest.raises(InvalidParameter, match=r"^(scale|randomness) must be ") as caught:
            noise(score, scale, randomness)
        assert leaks(caught.value) == []


@each_noise
@pytest.mark.parametrize(
    "score",
    ["31337.25", [CANARIES[1]], complex(31337.25), None, Decimal("sNaN"), Decimal("sNaN31337")],
    ids=repr,
)
def test_d9_a_noisy_number_refuses_what_is_no_score_without_it(
    noise: Callable[[object, Any, Any], PartialNumber], score: object
) -> None:
    with pytest.raises(OutsideDomain, match=r"^shift must be a finite real number") as caught:
        noise(score, 1, system())
    assert leaks(caught.value) == []


# What follows a release.


def test_d9_what_follows_a_release_may_fail_aloud_and_still_holds_no_score() -> None:
    def complains(output: object) -> NoReturn:
        text = f"no page for {output}"
        raise LookupError(text)

    for measurement in (measure(len) >> complains, measure(len) >> same >> complains >> same):
        with pytest.raises(LookupError, match="no page for 2") as caught:
            measurement(list(CANARIES))
        assert leaks(caught.value) == []
        names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        assert names[-1] == "complains"


def test_d10_nothing_about_a_measurement_remembers_what_it_was_called_with() -> None:
    measurement = measure(sum) >> same
    measurement(list(CANARIES))
    assert not holds_a_canary(repr(measurement))
    assert not holds_a_canary(vars(measurement))


class Halt(BaseException):
    def __init__(self, scores: Any) -> None:
        super().__init__()
        self.scores = scores


def test_d9_an_interrupt_that_cannot_be_made_anew_keeps_no_score() -> None:
    def halting(scores: Any) -> None:
        raise Halt(scores)

    with pytest.raises(ReleaseFailed) as caught:
        measure(halting)(list(CANARIES))
    assert leaks(caught.value) == []
