"""The acts behind ``tests/ledger/format_1``: two ledgers that the code of commit a519810 wrote, in format 1.

They were made once, with ``PYTHONPATH`` at that commit's ``src``, by ``python tests/ledger/stored_format_1.py
tests/ledger/format_1``. They are never made again: what was written once can be copied for ever.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dpselect import ZCDP, Ledger, PureDP, Scores, custom, select

STORED = Path(__file__).parent / "format_1"
DISH = custom(candidates=["tea", "coffee"], sensitivity=1)


def ask(ledger: Ledger, **asked: Any) -> str:
    """Ask which dish is liked best. That code took scores in the order of sorted names, so coffee has won."""
    return select(DISH, Scores([10**6, 0]), neighbours="change_one", ledger=ledger, **asked).to_json()


def write(folder: Path) -> None:
    """Write one ledger whose reasons say the relation, and one whose reasons do not."""
    with Ledger.create(folder / "asked.ledger", budget=PureDP("7/3"), dataset="orders · 茶") as asked:
        ask(asked, epsilon="1/4", request_id="r1")
        ask(asked, epsilon="1/9")
    with Ledger.create(folder / "by_hand.ledger", budget=ZCDP("1/2"), unit="customer") as by_hand:
        by_hand.charge(ZCDP("1/8"), reason="ten songs", request_id="r·2")
        by_hand.charge(PureDP("1/3"), reason="one song")
        by_hand.store("r·2", '["tea",\n"pie"] · 茶')


if __name__ == "__main__":
    write(Path(sys.argv[1]))
