"""No word is handed out twice, in any thread or process; and where the system fails, nothing is handed out.

The ids of the threats that a test stands against are in its name.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pickle
import pkgutil
import random
import struct
import sys
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import pytest

import dpselect
from dpselect.errors import InvalidParameter, RandomnessFailed
from dpselect.exact.randomness import Randomness, SystemRandomness, checked, system
from tests.exact.fresh_process import output_of
from tests.exact.streams import words_of_8_threads, words_of_a_parent_and_four_children

FAILED = "the system's source of randomness failed; nothing was released."
MORE_THAN_IS_READ_AHEAD = 3000


# B5: no seed.


def test_b5_seeding_the_generators_of_python_and_numpy_changes_nothing() -> None:
    def draw() -> list[int]:
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - it is the legacy generator that a caller might seed
        source = SystemRandomness()
        return [*(source.word() for _ in range(8)), *source.words(8).tolist()]

    assert set(draw()).isdisjoint(draw())


def test_b5_drawing_leaves_the_generators_of_python_and_numpy_alone() -> None:
    def states() -> object:
        return random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002 - the legacy generator

    before = states()
    for _ in range(MORE_THAN_IS_READ_AHEAD):
        system().word()
    assert states() == before


def public_callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """Walk all modules, and yield whatever can be called without touching a private name."""
    for module in pkgutil.walk_packages(dpselect.__path__, "dpselect."):
        if "._" in module.name:
            continue
        for name, thing in inspect.getmembers(importlib.import_module(module.name), callable):
            if name.startswith("_") or not str(getattr(thing, "__module__", "")).startswith("dpselect"):
                continue
            yield f"{module.name}.{name}", thing
            if inspect.isclass(thing):
                for method, function in inspect.getmembers(thing, callable):
                    if not method.startswith("_"):
                        yield f"{module.name}.{name}.{method}", function


def test_b5_no_public_signature_takes_a_seed() -> None:
    seen = 0
    for name, thing in public_callables():
        try:
            parameters = inspect.signature(thing).parameters
        except ValueError:  # built in, such as the methods that a subclass of int or tuple inherits
            continue
        seen += 1
        assert not [p for p in parameters if any(w in p for w in ("seed", "rng", "random_state"))], name
    assert seen > 50


# B6: forks.


@pytest.mark.parametrize("fork", ["os.fork()", "ctypes.PyDLL(None).fork()"], ids=["told", "not told"])
@pytest.mark.parametrize("threads", [0, 4])
def test_b6_four_forked_children_and_their_parent_draw_different_words(fork: str, threads: int) -> None:
    """Also where Python is not told of the fork, and where other threads were running."""
    prepare = f"""
        import ctypes, threading
        from dpselect.exact.randomness import system
        for _ in range({threads}):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        source = system()
    """
    words = words_of_a_parent_and_four_children(prepare, fork)
    assert len(set(words)) == len(words)


def test_b6_a_child_with_the_number_of_its_parent_draws_different_words() -> None:
    """Numbers of processes are used again; the handler at the fork does not rely on them."""
    prepare = """
        import os
        os.getpid = lambda: 7
        from dpselect.exact.randomness import system
        source = system()
    """
    words = words_of_a_parent_and_four_children(prepare)
    assert len(set(words)) == len(words)


def test_b6_words_read_ahead_are_dropped_when_the_process_has_another_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = SystemRandomness()
    source.word()
    reads: list[int] = []
    urandom, here = os.urandom, os.getpid()

    def counted(size: int) -> bytes:
        reads.append(size)
        return urandom(size)

    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", counted)
        source.word()
        assert reads == []
        patch.setattr(os, "getpid", lambda: here + 1)
        source.word()
        assert len(reads) == 1
        source.word()
        assert len(reads) == 1


def test_b6_the_new_number_is_noted_after_the_old_words_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread that finds the new number noted must find no old word."""
    seen: list[int] = []

    class Watched(SystemRandomness):
        __slots__ = ()

        def _forget(self) -> None:
            seen.append(self._process)
            super()._forget()

    source, here = Watched(), os.getpid()
    source.word()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    source.words(1)
    assert seen == [here]


# B7: threads.


@pytest.mark.parametrize(("source", "each"), [(system(), 100_000), (SystemRandomness(), 10_000)])
def test_b7_no_word_is_handed_out_twice_to_8_threads(source: Randomness, each: int) -> None:
    """Two equal words among 800,000 by chance: once in 10**8 runs."""
    words = words_of_8_threads(source, each)
    assert len(set(words)) == len(words) == 8 * each


# B8, B9: failures and short reads.


class Counter:
    """Stands in for os.urandom: every eight bytes it gives are new, until it has given enough."""

    def __init__(self, good_reads: int, then: Callable[[int], bytes]) -> None:
        self.good_reads = good_reads
        self.then = then
        self.given = 0

    def __call__(self, size: int) -> bytes:
        if self.good_reads == 0:
            return self.then(size)
        self.good_reads -= 1
        self.given += size // 8
        return struct.pack(f"={size // 8}Q", *range(self.given - size // 8, self.given))


def raising(error: Exception) -> Callable[[int], bytes]:
    def read(_: int) -> bytes:
        raise error

    return read


def failure_of(draw: Callable[[], list[int]], drawn: list[int]) -> RandomnessFailed:
    """Draw until it fails."""
    try:
        while True:
            drawn += draw()
    except RandomnessFailed as failure:
        return failure


FAILURES: dict[str, Callable[[int], bytes]] = {
    "no device": raising(OSError(24, "too many open files: /canary")),
    "not implemented": raising(NotImplementedError("canary")),
    "no memory": raising(MemoryError("canary")),
    "nothing": lambda _: b"",
    "one byte": lambda _: b"c",
    "one byte short": lambda size: b"c" * (size - 1),
    "half": lambda size: b"c" * (size // 2),
    "one byte long": lambda size: b"c" * (size + 1),
}


@pytest.mark.parametrize("good_reads", [0, 1, 2, 5])
@pytest.mark.parametrize("failure", FAILURES)
def test_b8_b9_a_failing_system_gives_one_constant_error_and_no_word_twice(
    failure: str, good_reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SystemRandomness()
    counter = Counter(good_reads, FAILURES[failure])
    monkeypatch.setattr(os, "urandom", counter)
    drawn: list[int] = []
    refused = [
        failure_of(lambda: [source.word()], drawn),
        failure_of(lambda: source.words(3).tolist(), drawn),
    ]
    assert len(drawn) == counter.given
    counter.good_reads = 10
    drawn += [source.word() for _ in range(MORE_THAN_IS_READ_AHEAD)] + source.words(3).tolist()
    assert len(set(drawn)) == len(drawn)
    for error in refused:
        assert str(error) == FAILED
        assert error.__context__ is None
        assert error.__cause__ is None
        assert isinstance(error, OSError)


def test_b8_an_interruption_by_the_user_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(size: int) -> bytes:
        raise KeyboardInterrupt(size)

    monkeypatch.setattr(os, "urandom", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SystemRandomness().word()


# B12: copies.


def words_ahead(source: Randomness) -> set[int]:
    """Draw all that was read ahead, and more."""
    return {source.word() for _ in range(MORE_THAN_IS_READ_AHEAD)}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_b12_a_pickle_carries_no_word(protocol: int) -> None:
    system().word()
    pickled = pickle.dumps(system(), protocol)
    assert pickle.loads(pickled) is system()
    assert len(pickled) < 100
    for word in words_ahead(system()):
        assert word.to_bytes(8, sys.byteorder) not in pickled
        assert str(word).encode() not in pickled


def test_b12_another_process_that_reads_a_pickle_draws_other_words() -> None:
    system().word()
    lines = output_of(f"""
        import pickle
        source = pickle.loads({pickle.dumps(system())!r})
        print(*(source.word() for _ in range(600)))
    """)
    there = {int(word) for word in lines[0].split()}
    assert len(there) == 600
    assert there.isdisjoint(words_ahead(system()))


def test_b12_a_copy_is_the_source_itself() -> None:
    assert copy.copy(system()) is system()
    assert copy.deepcopy([system()])[0] is system()


def test_b12_a_second_source_cannot_be_pickled() -> None:
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(SystemRandomness())


def test_a_source_shows_no_word() -> None:
    system().word()
    texts = [repr(system()), str(system()), f"{system()}"]
    assert texts == ["<system randomness>"] * 3
    assert not hasattr(system(), "__dict__")


# The shape of what is handed out.


def test_words_are_64_bits_wide() -> None:
    assert system().width == 64
    drawn = [system().word() for _ in range(1000)]
    assert all(type(word) is int and 0 <= word < 2**64 for word in drawn)
    assert max(drawn) >= 2**63, "each has its highest bit set or not: all clear is as likely as 2**-1000"
    assert min(drawn) < 2**63


@pytest.mark.parametrize("n", [0, 1, 7, np.int64(7), 100_000])
def test_many_words_come_as_an_array(n: int) -> None:
    words = system().words(n)
    assert words.shape == (n,)
    assert words.dtype == np.uint64
    assert len(set(words.tolist())) == n


@pytest.mark.parametrize("n", [-1, 1.0, True, None, "1", [1]], ids=str)
def test_the_number_of_words_is_a_count(n: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^n must be a whole number of 0 or more; got "):
        system().words(cast("int", n))


def test_every_caller_gets_the_same_source() -> None:
    assert system() is system()
    assert checked(system()) is system()


def test_production_ignores_marks() -> None:
    system().mark(["not even hashable"])  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, 0, "system", random, system, np.random.default_rng()], ids=type)
def test_what_gives_no_words_is_no_randomness(thing: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^randomness must be a source of random words; got .+ Pass "):
        checked(cast("Randomness", thing))
