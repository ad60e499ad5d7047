"""FLINT's precision belongs to the process; enclosures are right in threads and forks nevertheless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Event, Thread

import flint
import pytest

from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from tests.exact.fresh_process import output_of

X = Fraction(2, 3)
FUNCTIONS: list[Callable[[Fraction, int], Enclosure]] = [
    enclosures.exp,
    enclosures.log,
    enclosures.sqrt,
    enclosures.tanh,
]
FINE = [function(X, 8000) for function in FUNCTIONS]
ROUNDS = 200


@pytest.fixture
def precision_of_the_caller() -> Iterator[int]:
    before = flint.ctx.prec
    flint.ctx.prec = 77
    yield 77
    flint.ctx.prec = before


def all_sound_and_narrow(precision: int) -> bool:
    """Evaluate again and again; every result must contain the fine one, and be as narrow as asked for."""
    results = [
        (function(X, precision), fine)
        for _ in range(ROUNDS)
        for function, fine in zip(FUNCTIONS, FINE, strict=True)
    ]
    return all(
        low <= fine.low <= fine.high <= high and (high - low) * 2**precision <= min(abs(low), abs(high))
        for (low, high), fine in results
    )


def test_8_threads_at_different_precisions_do_not_disturb_each_other(precision_of_the_caller: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(all_sound_and_narrow, [1, 17, 53, 64, 200, 500, 1500, 4000]))
    assert flint.ctx.prec == precision_of_the_caller


def test_the_precision_of_the_caller_is_put_back(precision_of_the_caller: int) -> None:
    enclosures.exp(1, 1000)
    enclosures.compare(lambda precision: enclosures.exp(1, precision), Fraction(2))
    assert flint.ctx.prec == precision_of_the_caller


@pytest.mark.usefixtures("precision_of_the_caller")
def test_another_user_of_flint_makes_no_enclosure_wrong() -> None:
    """Code outside the library may set the precision at any moment: balls come out wider, not wrong."""
    done = Event()

    def meddle() -> None:
        while not done.is_set():
            flint.ctx.prec = 2

    meddler = Thread(target=meddle)
    meddler.start()
    try:
        for _ in range(ROUNDS):
            for function, fine in zip(FUNCTIONS, FINE, strict=True):
                low, high = function(X, 300)
                assert low <= fine.low <= fine.high <= high
    finally:
        done.set()
        meddler.join()


def test_a_fork_while_another_thread_holds_the_lock_does_not_hang_the_child() -> None:
    lines = output_of("""
        import os, sys, threading
        from fractions import Fraction
        from dpselect.exact.enclosures import enclose, exp

        inside, leave = threading.Event(), threading.Event()

        def formula(x):
            inside.set()
            leave.wait()
            return x.exp()

        thread = threading.Thread(target=enclose, args=(formula, Fraction(1)))
        thread.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            low, high = exp(1)
            e_is_inside = low < Fraction("2.718281828459045236") and Fraction("2.718281828459045235") < high
            sys.exit(7 if e_is_inside else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        leave.set()
        thread.join()
        print(exp(0).low)
    """)
    assert lines == ["7", "1"]
