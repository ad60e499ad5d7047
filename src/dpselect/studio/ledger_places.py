"""Where ledgers are: files of the studio, or schemas of one PostgreSQL database that several studios share.

A budget is then one, whichever machine is asked. The studio keeps the name of the schema; the address of the
server, which may say who logs in there, is given at each start and kept nowhere.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from dpselect.errors import InvalidParameter, LedgerUnavailable
from dpselect.ledger import Ledger
from dpselect.ledger.locations import POSTGRES_URLS
from dpselect.privacy import PureDP

SCHEMA, ON_SERVER = "dpselect_", "postgresql:"
"""How the name of a schema begins, and what is kept of a ledger on the server: this and its schema."""
LONGEST_SCHEMA = 63
"""Bytes that PostgreSQL keeps of a name."""


class LedgerPlaces:
    """Makes and opens the ledgers of data sets."""

    def __init__(self, folder: Path, server: str | None) -> None:
        """Make new ones in a folder, or on a server."""
        self._folder, self._server = folder, server

    def made(
        self,
        name: str,
        budget: PureDP,
        unit: str | None,
        neighbours: Literal["add_remove", "change_one"],
        anchor: str | None,
    ) -> tuple[str, Ledger]:
        """Make the ledger of a data set, or join the one on the server; give what is kept of its place."""
        kept = str(self._folder / f"{name}.ledger")
        if self._server is not None:
            kept = f"{ON_SERVER}{_schema(name)}"
            if _has_ledger(self._server, _schema(name), self._place(kept)):
                if anchor is not None:
                    raise InvalidParameter("anchor is for a new ledger; this one is there. Leave it out.")
                return kept, self._joined(self._place(kept), name, budget, unit, neighbours)
        elif Path(kept).exists():
            raise InvalidParameter.must_be("name", "one that no data set has or had", got=name)
        place = self._place(kept)
        made = Ledger.create(
            place, budget=budget, neighbours=neighbours, dataset=name, unit=unit or "row", anchor=anchor
        )
        return kept, made

    def opened(self, kept: str, anchor: str | None) -> Ledger:
        """Open a ledger, and verify it."""
        return Ledger.open(self._place(kept), anchor=anchor)

    def _place(self, kept: str) -> str:
        if not kept.startswith(ON_SERVER):
            return kept
        if self._server is None:
            raise LedgerUnavailable(
                "this ledger is on a server; the studio was started without one. Start it with --ledgers."
            )
        path = quote(f'-csearch_path="{kept.removeprefix(ON_SERVER)}"', safe="")
        return f"{self._server}{'&' if urlsplit(self._server).query else '?'}options={path}"

    @staticmethod
    def _joined(place: str, name: str, budget: PureDP, unit: str | None, neighbours: str) -> Ledger:
        """Open the ledger that another studio made: the same data set, people and budget."""
        found = Ledger.open(place)
        if (found.dataset, found.unit, found.neighbours, found.budget) != (
            name,
            unit or "row",
            neighbours,
            budget,
        ):
            found.close()
            raise InvalidParameter(
                "name must be one that no data set has; or the unit, the neighbours and the budget must be "
                f"those of the ledger that another studio made of it; got '{name}'.",
                parameter="name",
            )
        return found


def must_be_a_server(address: str) -> None:
    """Refuse what is no address of PostgreSQL, and passwords: the list of processes shows them to everyone.

    >>> must_be_a_server("postgresql://studio@db.example.org/budgets")
    """
    parts = urlsplit(address) if address.startswith(POSTGRES_URLS) else None
    if parts is None or parts.password is not None or "password" in parts.query or "options" in parts.query:
        raise InvalidParameter(
            "ledgers must be the address of a PostgreSQL database, without a password and options. Write "
            "postgresql://studio@db.example.org/budgets, and the password into a file that PGPASSFILE names.",
            parameter="ledgers",
        )


def _schema(name: str) -> str:
    schema = f"{SCHEMA}{name}"
    if len(schema.encode()) > LONGEST_SCHEMA:
        raise InvalidParameter(
            f"name must have at most {LONGEST_SCHEMA - len(SCHEMA)} characters for a ledger on a server.",
            parameter="name",
        )
    return schema


def _has_ledger(server: str, schema: str, place: str) -> bool:
    """Make the schema, unless it is there; say whether it holds a ledger."""
    from dpselect.ledger.postgres import PostgresDatabase  # noqa: PLC0415 - needs an extra

    with closing(PostgresDatabase(server)) as database:
        database.rows(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')  # letters, digits and . _ - alone
    with closing(PostgresDatabase(place)) as database:
        return database.exists()
