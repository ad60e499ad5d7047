"""The words that several processes or threads draw from one source: all of them must differ."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

from dpselect.exact.randomness import Randomness
from tests.exact.fresh_process import output_of

FOUR_FORKS = """
    import os
    source.word()  # so that there is something read ahead to share
    pipes = []
    for _ in range(4):
        reader, writer = os.pipe()
        if {fork} == 0:
            words = [*(source.word() for _ in range(32)), *source.words(32).tolist()]
            os.write(writer, " ".join(map(str, words)).encode())
            os._exit(0)
        os.close(writer)
        pipes.append(reader)
    print(*(source.word() for _ in range(32)), *source.words(32).tolist())
    for reader in pipes:
        print(os.read(reader, 10**6).decode())
    for _ in pipes:
        os.wait()
"""


def words_of_a_parent_and_four_children(prepare: str, fork: str = "os.fork()") -> list[str]:
    """Have five processes draw 64 words each, half of them one by one, from the ``source`` of ``prepare``."""
    script = dedent(prepare) + dedent(FOUR_FORKS.format(fork=fork))
    streams = [line.split() for line in output_of(script)]
    assert [len(stream) for stream in streams] == [64] * 5
    return [word for stream in streams for word in stream]


def words_of_8_threads(source: Randomness, each: int = 100_000) -> list[int]:
    """Have 8 threads draw at once, mostly one by one, and change between them as often as can be."""

    def draw(_: int) -> list[int]:
        words = [source.word() for _ in range(each - each // 10)]
        for size in [each // 100] * 5 + [each // 1000] * 50:
            words += source.words(size).tolist()
        return words

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            return [word for words in pool.map(draw, range(8)) for word in words]
    finally:
        sys.setswitchinterval(switch)
