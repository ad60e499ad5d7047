"""Made-up data for the demonstration, by formulas that a reader can check; no real person is in it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

PEOPLE = 5_000
"""People in each of the two made-up tables."""
FIRST_NAMES = ["Captain", "Lady", "Doctor", "Little", "Sir", "Lucky", "Old", "Merry", "Sleepy", "Brave"]
LAST_NAMES = ["Biscuit", "Waffles", "Pepper", "Noodle", "Pickle", "Tofu", "Mango", "Ziggy", "Olive", "Button"]
MASCOTS = [f"{FIRST_NAMES[i % 10]} {LAST_NAMES[(i + i // 10) % 10]}" for i in range(100)]
PRICES = "0.01:1.99:0.01"

TOWNS = ["Rome", "Oslo", "Bern", "Graz"]

TOWN_RULE = "person p lives in town number (7·p mod 997) div 250"
APPROVAL_RULE = "person p approves of name i if 7·p·(i+1) mod 997 < 3500/(i+10)"
SURVEY_RULE = "person p would pay 50 + (p² mod 89) cents"


def town_of(person: int) -> str:
    """Say where a person lives; in Rome everyone likes the first name."""
    return TOWNS[7 * person % 997 // 250]


def approvals() -> Iterable[tuple[str, str, str]]:
    """Give a row for each person and each name that they approve of, with their town."""
    for person in range(PEOPLE):
        for i, name in enumerate(MASCOTS):
            if 7 * person * (i + 1) % 997 * (i + 10) < 3500:
                yield f"p{person:04}", name, town_of(person)


def offers() -> Iterable[tuple[str, Decimal, str]]:
    """Give a row for each person: what they would pay, and their town."""
    for person in range(PEOPLE):
        yield f"p{person:04}", Decimal(50 + person * person % 89) / 100, town_of(person)


def votes() -> Counter[str]:
    """Count the approvals: they are public here, because the formula is."""
    return Counter(name for _, name, _ in approvals())


def revenues() -> dict[Decimal, Decimal]:
    """Give what each price would earn."""
    values = [value for _, value, _ in offers()]
    prices = [Decimal(f"{cents}e-2") for cents in range(1, 200)]
    return {price: price * sum(value >= price for value in values) for price in prices}


def write_files(folder: Path) -> dict[str, int]:
    """Write names, ballots and survey; give the number of rows of each file."""
    (folder / "names.txt").write_text("\n".join(MASCOTS) + "\n", encoding="utf-8")
    return {
        "names.txt": len(MASCOTS),
        "ballots.csv": _table(folder / "ballots.csv", ("person", "name", "town"), approvals()),
        "survey.csv": _table(folder / "survey.csv", ("person", "pays", "town"), offers()),
    }


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        count = 0
        for row in rows:
            writer.writerow(row)
            count += 1
    return count
