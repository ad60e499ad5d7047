"""The acts behind ``tests/release/stored``: what earlier versions wrote, and a ledger that keeps some of it.

``town.ledger`` was written by the code of commit 18bd094, by ``python -m tests.release.stored_releases
tests/release/stored``. ``first.jsonl`` was written by the code before commit 4de29aa, where an accuracy knew
neither how many candidates there are nor what a rank is compared with. They are never made again: what was
written once stays readable. The acts are kept, because a test asks the same questions again.
"""

import sys
from pathlib import Path
from typing import Any

from dpselect import Ledger, PureDP, Table, approval_voting, pricing, quantile
from dpselect.release import prepare

STORED = Path(__file__).parent / "stored"
BALLOTS = "voter,dish,pays\n1,tea,1.25\n1,pie,1.25\n2,tea,3\n3,soup,2.5\n4,tea,0.75\n"
QUESTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "dishes": (
        approval_voting(candidate="dish", candidates=["tea", "pie", "soup"]),
        {"k": 2, "epsilon": "1/3"},
    ),
    "price": (pricing(value="pays", prices=["0.50", "1.00", "2.50"]), {"epsilon": "1/2"}),
    "median": (quantile(value="pays", at="1/2", between=(0, 3), step="1/3"), {"epsilon": "1/4"}),
}
LOST: dict[str, tuple[Any, dict[str, Any]]] = {
    "lost": (approval_voting(candidate="dish", candidates=["tea", "pie", "soup"]), {"epsilon": "1/7"}),
    "long": (
        approval_voting(candidate="dish", candidates=["tea", "pie", "soup"]),
        {"epsilon": "1000000000000/7000000000003"},
    ),
}


def act(folder: Path) -> None:
    """Make the ledger, ask the questions, and lose the answers of two."""
    path = folder / "ballots.csv"
    path.write_text(BALLOTS, encoding="utf-8")
    table = Table(path, unit="voter", dataset="town")
    with Ledger.create(folder / "town.ledger", budget=PureDP(4), dataset="town", unit="voter") as ledger:
        for name, (problem, asked) in QUESTIONS.items():
            with prepare(problem, table, **asked) as question:
                question.release(ledger, request_id=name)
        for name, (problem, asked) in LOST.items():
            quote = prepare(problem, table, **asked).quote
            ledger.charge(quote.price, reason=quote.reason, request_id=name)


if __name__ == "__main__":
    act(Path(sys.argv[1]))
