"""Two places for a ledger, and the ways around it that an intruder with the right to write has there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import psycopg

TABLES = ("dpselect_header", "dpselect_entries", "dpselect_answers")


class Place(Protocol):
    """Where a ledger is: what ``create`` and ``open`` are given, and a back door."""

    url: str

    def execute(self, *statements: str) -> list[Any]:
        """Run SQL as the owner of the database; give the rows of the last statement."""

    def force(self, *statements: str) -> None:
        """Run SQL with the triggers out of the way, and put them back."""


class FileCabinet:
    def __init__(self, path: Path) -> None:
        self.path, self.url = path, str(path)

    def execute(self, *statements: str) -> list[Any]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]

    def force(self, *statements: str) -> None:
        guards = self.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        self.execute(
            *(f"DROP TRIGGER {name}" for name, _ in guards),
            *statements,
            *(sql for _, sql in guards),
            "VACUUM",
        )


class ServerCabinet:
    def __init__(self, url: str) -> None:
        self.url = url

    def execute(self, *statements: str) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursors = [connection.execute(statement.encode()) for statement in statements]
            return cursors[-1].fetchall() if cursors[-1].description else []

    def force(self, *statements: str) -> None:
        self.execute(
            *(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in TABLES),
            *statements,
            *(f"ALTER TABLE {table} ENABLE TRIGGER ALL" for table in TABLES),
        )
