"""How not to refuse: the same refusal, written in every way that leaks. A check that accepts one is blind."""

import contextlib
from collections.abc import Callable
from typing import NoReturn

import numpy as np


def hides_the_cause_and_keeps_the_score(scores: list[float]) -> None:  # noqa: ARG001 - kept is enough
    try:
        int("x")
    except ValueError:
        raise RuntimeError from None


def raises_after_the_except_and_keeps_the_score(scores: list[float]) -> None:  # noqa: ARG001 - the same
    with contextlib.suppress(ValueError):
        int("x")
    raise RuntimeError


def says_the_score(scores: list[float]) -> NoReturn:
    text = f"no such score: {scores[0]}"
    del scores
    raise RuntimeError(text)


def keeps_the_error_that_said_it(scores: list[float]) -> NoReturn:
    said = KeyError(scores)
    del scores
    try:
        raise said
    except KeyError:
        del said
        raise RuntimeError from None  # the traceback does not show it, but __context__ holds it


def names_the_error_that_said_it(scores: list[float]) -> NoReturn:
    said = KeyError(scores)
    del scores
    raise RuntimeError from said


def adds_a_note(scores: list[float]) -> NoReturn:
    error = RuntimeError()
    error.add_note(f"while looking at {scores}")
    del scores
    raise error


def keeps_it_in_an_attribute(scores: list[float]) -> NoReturn:
    error = RuntimeError()
    error.seen = scores  # type: ignore[attr-defined]
    del scores
    raise error


class Slotted:
    """Holds its scores where ``vars`` does not look."""

    __slots__ = ("held",)

    def __init__(self, scores: list[float]) -> None:
        self.held = ({"scores": np.array(scores)},)

    def refuse(self) -> NoReturn:
        raise RuntimeError


def keeps_it_deep_in_self(scores: list[float]) -> NoReturn:
    slotted = Slotted(scores)
    del scores
    slotted.refuse()


def keeps_a_suspended_walk(scores: list[float]) -> NoReturn:
    walk = (score for score in scores)
    next(walk)
    del scores
    raise RuntimeError


LEAKY: list[Callable[[list[float]], None]] = [
    hides_the_cause_and_keeps_the_score,
    raises_after_the_except_and_keeps_the_score,
    says_the_score,
    keeps_the_error_that_said_it,
    names_the_error_that_said_it,
    adds_a_note,
    keeps_it_in_an_attribute,
    keeps_it_deep_in_self,
    keeps_a_suspended_walk,
]


def lets_go_before_it_refuses(scores: list[float]) -> NoReturn:
    wrong = any(score > 1 for score in scores)
    del scores
    raise RuntimeError(f"scores are out of bounds: {wrong}")
