"""The declarations of a ledger in a SQLite file. They are part of the stored format, letter by letter.

Each layout that was ever written has its own list: ``SqliteDatabase.check`` compares a file with them.
"""

from __future__ import annotations

from dpselect.ledger.database import ANSWERS, ENTRIES, FORMAT_1, HEADER, PLAIN, PRESENT, Layout

_HEADER = f"""CREATE TABLE {HEADER} (version INTEGER NOT NULL, measure TEXT NOT NULL, budget TEXT NOT NULL,
    neighbours TEXT NOT NULL, dataset TEXT, unit TEXT, anchor TEXT, created TEXT NOT NULL,
    digest TEXT NOT NULL)"""
_HEADER_OF_FORMAT_1 = (
    f"CREATE TABLE {HEADER} (version INTEGER NOT NULL, measure TEXT NOT NULL, budget TEXT NOT NULL,\n"
    "    dataset TEXT, unit TEXT, anchor TEXT, created TEXT NOT NULL, digest TEXT NOT NULL)"
)
_ENTRIES = [
    f"""CREATE TABLE {ENTRIES} (number INTEGER PRIMARY KEY, loss TEXT NOT NULL, total TEXT NOT NULL,
    reason TEXT NOT NULL, request_id TEXT, time TEXT NOT NULL, account TEXT, act TEXT, amount TEXT,
    digest TEXT NOT NULL)""",
    f"""CREATE UNIQUE INDEX dpselect_requests ON {ENTRIES} (request_id, coalesce(account, ''))
    WHERE request_id IS NOT NULL""",
]
_PLAIN_ENTRIES = [
    f"""CREATE TABLE {ENTRIES} (number INTEGER PRIMARY KEY, loss TEXT NOT NULL, total TEXT NOT NULL,
    reason TEXT NOT NULL, request_id TEXT, time TEXT NOT NULL, digest TEXT NOT NULL)""",
    f"CREATE UNIQUE INDEX dpselect_requests ON {ENTRIES} (request_id) WHERE request_id IS NOT NULL",
]
_ANSWERS = [
    f"""CREATE TABLE {ANSWERS} (number INTEGER PRIMARY KEY, entry INTEGER NOT NULL, answer TEXT NOT NULL,
    digest TEXT NOT NULL)""",
    f"CREATE UNIQUE INDEX dpselect_answered ON {ANSWERS} (entry)",
]
_SAME_REQUEST = "request_id = NEW.request_id"
_OF_SAME_ACCOUNT = f"{_SAME_REQUEST} AND coalesce(account, '') = coalesce(NEW.account, '')"


def _triggers(same_request: str) -> list[str]:
    """Declare what refuses every row that is not the next one."""
    refused = {
        HEADER: "EXISTS (SELECT 1 FROM dpselect_header)",
        ENTRIES: """NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM dpselect_entries)
    OR EXISTS (SELECT 1 FROM dpselect_entries WHERE SAME)""".replace("SAME", same_request),
        ANSWERS: """NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM dpselect_answers)
    OR NOT EXISTS (SELECT 1 FROM dpselect_entries WHERE number = NEW.entry)
    OR EXISTS (SELECT 1 FROM dpselect_answers WHERE entry = NEW.entry)""",
    }
    return [
        f"CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table} {when} "
        f"BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END"
        for table, not_next in refused.items()
        for verb, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", f"WHEN {not_next}"))
    ]


SQLITE_SCHEMA = [_HEADER, *_ENTRIES, *_ANSWERS, *_triggers(_OF_SAME_ACCOUNT)]
"""What a new file is made of."""
SQLITE_SCHEMAS: dict[Layout, list[str]] = {
    PRESENT: SQLITE_SCHEMA,
    PLAIN: [_HEADER, *_PLAIN_ENTRIES, *_ANSWERS, *_triggers(_SAME_REQUEST)],
    FORMAT_1: [_HEADER_OF_FORMAT_1, *_PLAIN_ENTRIES, *_ANSWERS, *_triggers(_SAME_REQUEST)],
}
