"""The sentences about damage: which record is the first bad one, and what to do."""

from __future__ import annotations

from dpselect.errors import LedgerDamaged


def entry_damaged(number: object) -> LedgerDamaged:
    """Say which entry is the first bad one."""
    known = entry_number(number)
    return LedgerDamaged(
        f"entry {'of the ledger' if known is None else known} is damaged; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy.",
        entry=known,
    )


def entry_number(value: object) -> int | None:
    """Read the number of an entry that may be damaged, or None."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


def entries_missing(number: int) -> LedgerDamaged:
    """Say that entries are missing at the end."""
    return LedgerDamaged(
        f"entry {number} is missing: the ledger is older than its anchor. Put back its newest copy; "
        "until then it accepts no charge.",
        entry=number,
    )


def anchor_of_another_ledger() -> LedgerDamaged:
    """Say that ledger and anchor do not belong together."""
    return LedgerDamaged("the header of the ledger is not the one that its anchor knows.", entry=0)


def answers_damaged() -> LedgerDamaged:
    """Say that stored answers are missing or were changed."""
    return LedgerDamaged(
        "stored answers are missing or were changed; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy."
    )
