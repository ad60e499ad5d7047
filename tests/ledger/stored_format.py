"""The acts behind ``tests/ledger/format_2``: two ledgers that the code of commit 8ad381d wrote.

They were made once, with ``PYTHONPATH`` at that commit's ``src``, by ``python tests/ledger/stored_format.py
tests/ledger/format_2``. They are never made again: what was written once stays readable. The acts are kept
because the code of today must still write the same rows for them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from dpselect import ZCDP, Ledger, PureDP

FORMAT_2 = Path(__file__).parent / "format_2"


def ticking() -> Callable[[], datetime]:
    """Make a clock that goes on by 61 seconds at each look, beginning on 2026-05-01 at 12:00."""
    times = [datetime(2026, 5, 1, 12, 0, tzinfo=UTC)]

    def look() -> datetime:
        times.append(times[-1] + timedelta(seconds=61))
        return times[-2]

    return look


def write_pure(place: str) -> Ledger:
    """Write a ledger in pure privacy: names, requests, answers, an exact budget that is spent to the last."""
    ledger = Ledger.create(
        place, budget=PureDP("7/3"), dataset="orders 2026", unit="customer", clock=ticking()
    )
    ledger.charge(PureDP("1/3"), reason="favourite dish", request_id="2026-05-01/dish")
    ledger.charge(PureDP(0), reason="one candidate")
    ledger.charge(PureDP("1e-300"), reason="ten songs · dix chansons · 十首歌", request_id="r·2")
    ledger.store("r·2", '["tea",\n"pie"] · 茶')
    ledger.store("2026-05-01/dish", '{"labels": ["tea"]}')
    ledger.charge(PureDP(2 - Fraction(1, 10**300)), reason="the rest")
    return ledger


def write_zcdp(place: str) -> Ledger:
    """Write a ledger in concentrated privacy: the other neighbours, a converted loss, 400 digits."""
    ledger = Ledger.create(place, budget=ZCDP("1/2"), neighbours="change_one", clock=ticking())
    ledger.charge(ZCDP("1/8"), reason="ten songs", request_id="r1")
    ledger.charge(PureDP("1/2"), reason="one song: converted")
    ledger.charge(ZCDP(Fraction(1, 10**399 + 1)), reason="400 digits")
    ledger.store("r1", "")
    return ledger


WRITERS = {"pure": write_pure, "zcdp": write_zcdp}

if __name__ == "__main__":
    for name, write in WRITERS.items():
        write(str(Path(sys.argv[1]) / f"{name}.ledger")).close()
