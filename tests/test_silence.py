"""D9: what fails near data is told by a fresh error, without the frames and errors that hold the data."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest

import dpselect.silence
from dpselect.errors import DpselectError, InvalidParameter, ReleaseFailed, Shortage
from dpselect.silence import holds_data, run, run_or_none, shortage_or, takes_data
from tests.privacy.leaks import CANARIES, leaks


class Halt(BaseException):
    def __init__(self, scores: object) -> None:
        super().__init__()
        self.scores = scores


class Stopped(KeyboardInterrupt):
    """Ctrl-C, of a class of the caller's own."""


def raises_the_scores(scores: object) -> NoReturn:
    raise ValueError(scores)


def raises_from_a_cause(scores: object) -> NoReturn:
    raise LookupError from ValueError(scores)


def raises_within_an_except(scores: object) -> NoReturn:
    try:
        raises_the_scores(scores)
    except ValueError:
        raise RuntimeError  # noqa: B904 - the implicit context is the point


FAILING = [raises_the_scores, raises_from_a_cause, raises_within_an_except]


def frames(error: BaseException) -> list[str]:
    return [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)][1:]


def refused(_: Exception) -> DpselectError:
    return DpselectError("it failed.")


def test_what_an_action_gives_is_given_even_if_it_is_nothing() -> None:
    assert run(lambda: 7, refused) == 7
    assert run(lambda: None, refused) is None
    assert run_or_none(lambda: 7) == 7


@pytest.mark.parametrize("failing", FAILING)
def test_d9_a_failure_becomes_the_refusal_and_leaves_nothing_else(
    failing: Callable[[object], object],
) -> None:
    with pytest.raises(DpselectError, match=r"^it failed\.$") as caught:
        run(lambda: failing(list(CANARIES)), refused)
    assert leaks(caught.value) == []
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert frames(caught.value) == ["run"]


def test_d9_an_error_that_is_handed_back_loses_its_frames_and_the_errors_behind_it() -> None:
    def fails() -> NoReturn:
        scores = list(CANARIES)
        raise InvalidParameter("k must be 1.") from ValueError(scores)

    with pytest.raises(InvalidParameter, match=r"^k must be 1\.$") as caught:
        run(fails, lambda error: error)
    assert leaks(caught.value) == []
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert frames(caught.value) == ["run"]


def raiser(error: BaseException, scores: object) -> Callable[[], NoReturn]:
    def fails() -> NoReturn:
        held = [scores]
        raise error from ValueError(held)

    return fails


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyboardInterrupt(*CANARIES), KeyboardInterrupt),
        (Stopped(*CANARIES), Stopped),
        (SystemExit(*CANARIES), SystemExit),
        (GeneratorExit(*CANARIES), GeneratorExit),
        (Halt(CANARIES), ReleaseFailed),
    ],
)
def test_d9_ctrl_c_and_the_like_pass_as_new_exceptions_of_their_class(
    error: BaseException, kind: type[BaseException]
) -> None:
    with pytest.raises(kind) as caught:
        run(raiser(error, CANARIES), refused)
    assert type(caught.value) is kind
    assert caught.value is not error
    assert leaks(caught.value) == []


def test_d9_a_failure_that_means_nothing_is_none() -> None:
    assert run_or_none(raiser(ValueError(CANARIES), CANARIES)) is None
    with pytest.raises(KeyboardInterrupt):
        run_or_none(raiser(KeyboardInterrupt(), 1))


def test_a_shortage_is_told_as_one_and_other_failures_by_the_refusal() -> None:
    refusal = shortage_or(lambda: InvalidParameter("source must be a file."))
    with pytest.raises(Shortage, match="memory"):
        run(raiser(MemoryError(), CANARIES), refusal)
    with pytest.raises(InvalidParameter, match=r"^source must be a file\.$") as caught:
        run(raiser(OSError("31337"), CANARIES), refusal)
    assert leaks(caught.value) == []


def library(source: str) -> dict[str, Any]:
    """Define something in a file of the library, where the search for leaks looks at the frames."""
    names: dict[str, Any] = {"takes_data": takes_data, "holds_data": holds_data, "dataclass": dataclass}
    exec(compile(source, dpselect.silence.__file__, "exec"), names)  # noqa: S102 - our own text
    return names


GIVEN = """
def plain(scores, *, word):
    if word != "go":
        raise LookupError("word must be go.")
    return len(scores)

wrapped = takes_data(plain)
"""


def test_d9_a_function_that_takes_data_refuses_without_it() -> None:
    names = library(GIVEN)
    assert names["wrapped"](CANARIES, word="go") == 2
    with pytest.raises(LookupError) as caught:
        names["plain"](CANARIES, word="stop")
    assert leaks(caught.value) != []
    with pytest.raises(LookupError, match="word must be go") as caught:
        names["wrapped"](CANARIES, word="stop")
    assert leaks(caught.value) == []
    assert frames(caught.value) == ["called", "run"]


@dataclass(frozen=True)
class Plain:
    scores: object = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.scores, list):
            raise InvalidParameter("scores must be a list.")

    def __reduce__(self) -> str:
        raise TypeError("not pickled.")


@holds_data
@dataclass(frozen=True)
class Quiet(Plain):
    def __reduce__(self) -> str:
        return super().__reduce__()


@pytest.mark.parametrize(
    "refusing",
    [
        lambda: Quiet(CANARIES),
        lambda: setattr(Quiet(list(CANARIES)), "scores", 1),
        lambda: delattr(Quiet(list(CANARIES)), "scores"),
        lambda: Quiet(list(CANARIES)).__reduce__(),
    ],
)
def test_d9_an_object_that_holds_data_refuses_without_it(refusing: Callable[[], object]) -> None:
    with pytest.raises((InvalidParameter, AttributeError, TypeError)) as caught:
        refusing()
    assert frames(caught.value)[-2:] == ["called", "run"]
    assert leaks(caught.value) == []
    assert Quiet(list(CANARIES)).scores == list(CANARIES)
