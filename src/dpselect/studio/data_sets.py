"""Data sets: a table within the allowed roots, the column of its people, and the ledger of their budget.

What the studio shows of one is its schema: names and kinds of columns. No row is read here.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dpselect.engines import Table
from dpselect.engines.schema import Schema
from dpselect.errors import DpselectError, InvalidParameter, LedgerDamaged
from dpselect.exact.numbers import positive
from dpselect.ledger import Account, Ledger
from dpselect.privacy import PureDP
from dpselect.release.data import OpenTable
from dpselect.silence import run_or_none
from dpselect.studio import refusals
from dpselect.studio.ledger_places import LedgerPlaces
from dpselect.studio.offered import Offered, PublicWords
from dpselect.studio.refusals import Refused
from dpselect.studio.state import State

NAME_OF_A_DATA_SET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LONGEST_ABOUT = 400
"""Characters of what a curator says of a data set."""


@dataclass(frozen=True)
class DataSet:
    """A registered data set. Its source stays within the studio: no page shows a path."""

    name: str
    unit: str | None
    about: str
    source: str = field(repr=False)
    source_table: str | None = field(repr=False)
    ledger: str = field(repr=False)
    anchor: str | None = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class NewDataSet:
    """What a curator says of a new data set: texts, not trusted."""

    name: str
    path: str = field(repr=False)
    unit: str | None
    """The column of people; None if each row is a person."""
    epsilon: str
    about: str = ""
    table: str | None = None
    anchor: str | None = field(default=None, repr=False)
    neighbours: str = "add_remove"


class DataSets:
    """The data sets of a studio, each with one open ledger."""

    def __init__(self, state: State, places: LedgerPlaces, roots: Sequence[Path]) -> None:
        """Keep the register in the state, ledgers in their places."""
        self._state, self._places, self._offered = state, places, Offered(state)
        self.roots = [root.resolve() for root in roots]
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self._ledgers: dict[str, Ledger] = {}
        self._schemas: dict[str, tuple[object, Schema]] = {}

    # ---- the register ------------------------------------------------------------------------------------

    def register(self, new: NewDataSet) -> DataSet:
        """Register a table and make the ledger of its budget. Its schema is read, no row of it."""
        name, unit, neighbours, anchor = new.name, new.unit, new.neighbours, new.anchor
        if not NAME_OF_A_DATA_SET.fullmatch(name):
            raise InvalidParameter.must_be("name", "1 to 64 letters, digits or . _ -", got=name)
        if len(new.about) > LONGEST_ABOUT:
            raise InvalidParameter(f"about must be at most {LONGEST_ABOUT} characters long.")
        if neighbours not in ("add_remove", "change_one"):
            raise InvalidParameter.must_be("neighbours", "add_remove or change_one", got=neighbours)
        budget = PureDP(positive(new.epsilon, "epsilon"))
        source = self._within_roots(new.path)
        if anchor is not None:
            anchor = str(self._new_within_roots(anchor))
        made = DataSet(name, unit, new.about, str(source), new.table, "", anchor)
        with self._lock:
            if self._state.row("select 1 from data_sets where name = ?", [name]):
                raise InvalidParameter.must_be("name", "one that no data set has or had", got=name)
            schema = self._read_schema(made)
            if unit is not None:
                schema.person(unit)
            kept, ledger = self._places.made(
                name, budget, unit, "add_remove" if neighbours == "add_remove" else "change_one", anchor
            )
            made = replace(made, ledger=kept)
            self._state.write(
                "insert into data_sets values (?, ?, ?, ?, ?, ?, ?)",
                [name, made.source, new.table, unit, made.ledger, anchor, new.about],
            )
            self._ledgers[name] = ledger
        return made

    def find(self, name: str) -> DataSet:
        """Find a data set by its name."""
        row = self._state.row("select * from data_sets where name = ?", [name])
        if row is None:
            raise refusals.not_found()
        return _data_set(row)

    def all(self) -> list[DataSet]:
        """List all data sets by their names."""
        return [_data_set(row) for row in self._state.rows("select * from data_sets order by name")]

    def of_analyst(self, analyst: str) -> list[DataSet]:
        """List the data sets in which an analyst has a share; one whose ledger is closed hides no other."""
        open_ones, closed = [], 0
        for each in self.all():
            try:
                open_ones += [each] if self.account(each, analyst) is not None else []
            except (DpselectError, Refused):
                closed += 1
        if closed and not open_ones:
            raise Refused(503, refusals.DATA_SET_CLOSED)
        return open_ones

    def for_analyst(self, name: str, analyst: str) -> tuple[DataSet, Account]:
        """Find a data set in which an analyst has a share; another one is not there for them."""
        row = self._state.row("select * from data_sets where name = ?", [name])
        if row is None:
            for other in self._state.rows("select * from data_sets limit 1"):  # so that time tells no name
                run_or_none(partial(self.account, _data_set(other), analyst))
            raise refusals.no_share()
        found = _data_set(row)
        account = self.account(found, analyst)
        if account is None:
            raise refusals.no_share()
        return found, account

    # ---- ledgers -----------------------------------------------------------------------------------------

    def ledger(self, data_set: DataSet) -> Ledger:
        """Give the ledger of a data set; it is opened and verified once."""
        try:
            return self._opened(data_set)
        except DpselectError as error:
            raise _closed(error) from None

    def _opened(self, data_set: DataSet) -> Ledger:
        with self._opening:
            if data_set.name not in self._ledgers:
                self._ledgers[data_set.name] = self._places.opened(data_set.ledger, data_set.anchor)
            return self._ledgers[data_set.name]

    def account(self, data_set: DataSet, analyst: str) -> Account | None:
        """Look at the share of an analyst; None without one."""
        ledger = self.ledger(data_set)
        return next((each for each in ledger.accounts() if each.name == analyst), None)

    def share(self, data_set: DataSet, analyst: str, epsilon: str, *, reserve: bool = False) -> Account:
        """Give an analyst a share of the budget, or another one than before; nothing closes it."""
        ledger, amount = self.ledger(data_set), PureDP(positive(epsilon, "epsilon"))
        held = self.account(data_set, analyst)
        if held is not None and reserve and not held.reserved:
            raise InvalidParameter(
                "reserve is for a new share: one that others may spend already cannot be set aside. "
                "Leave it out.",
                parameter="reserve",
            )
        if held is None:
            return ledger.open_account(analyst, share=amount, reserve=reserve)
        return ledger.change_share(analyst, amount, reason="the curator changes a share")

    def verified(self, data_set: DataSet) -> dict[str, object]:
        """Check every record of a ledger; say that it is whole, or what is wrong with it."""
        try:
            return {"data_set": data_set.name, "verified": True, "entries": self._opened(data_set).verify()}
        except DpselectError as error:
            damaged = isinstance(error, LedgerDamaged)
            said = "it is damaged, and accepts no charge" if damaged else "it cannot be read just now"
            return {"data_set": data_set.name, "verified": False, "problem": said}

    # ---- tables ------------------------------------------------------------------------------------------

    def table(self, data_set: DataSet) -> Table:
        """Name the table, as long as its file lies within the allowed roots."""
        try:
            source = self._within_roots(data_set.source)
        except InvalidParameter:
            raise Refused(503, refusals.DATA_SET_CLOSED) from None
        return Table(str(source), unit=data_set.unit, table=data_set.source_table, dataset=data_set.name)

    def schema(self, data_set: DataSet) -> Schema:
        """Give the public columns, read anew where the file has changed."""
        table = self.table(data_set)
        try:
            found = Path(str(table.source)).stat()
        except OSError:
            raise Refused(503, refusals.DATA_SET_CLOSED) from None
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        with self._lock:
            kept = self._schemas.get(data_set.name)
            if kept is None or kept[0] != stamp:
                try:
                    kept = (stamp, self._read_schema(data_set))
                except DpselectError:
                    raise Refused(503, refusals.DATA_SET_CLOSED) from None
                self._schemas[data_set.name] = kept
        return kept[1]

    def _read_schema(self, data_set: DataSet) -> Schema:
        with ExitStack() as stack:
            return stack.enter_context(OpenTable(self.table(data_set))).schema

    def _within_roots(self, path: str) -> Path:
        """Give the file that a path means, symbolic links followed, if it lies within an allowed root."""
        try:
            found = Path(path).resolve(strict=True)
            inside = found.is_file() and any(found.is_relative_to(root) for root in self.roots)
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside or not Path(path).is_absolute():
            raise InvalidParameter(
                "path must be the whole path of a file within the folders that this studio was started with. "
                "Start it with --allowed-root FOLDER."
            )
        return found

    def _new_within_roots(self, path: str) -> Path:
        """Give the place of a new file within an allowed root."""
        place = Path(path)
        try:
            folder = place.parent.resolve(strict=True)
            inside = any(folder.is_relative_to(root) for root in self.roots) and not os.path.lexists(place)
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside or not place.is_absolute():
            raise InvalidParameter(
                "anchor must be the whole path of a new file within the folders that this studio was started "
                "with. Start it with --allowed-root FOLDER."
            )
        return folder / place.name

    # ---- what is offered ---------------------------------------------------------------------------------

    def set_list(self, data_set: DataSet, column: str, labels: Sequence[str]) -> None:
        """Offer the public candidates of a column. They are written by the curator, and never read here."""
        self.schema(data_set).column(column)
        self._offered.set_list(data_set.name, column, labels)

    def lists(self, data_set: DataSet) -> dict[str, list[str]]:
        """Give the public candidates of each column that has some."""
        return self._offered.lists(data_set.name)

    def set_bounds(self, data_set: DataSet, column: str, bounds: Mapping[str, str]) -> None:
        """Offer the public bounds of the answers about a column of numbers."""
        self.schema(data_set).column(column)
        self._offered.set_bounds(data_set.name, column, bounds)

    def bounds(self, data_set: DataSet) -> dict[str, dict[str, str]]:
        """Give the public bounds of each column that has some."""
        return self._offered.bounds(data_set.name)

    def offered(self, data_set: DataSet) -> PublicWords:
        """Give all that is offered of a data set."""
        return PublicWords(self.lists(data_set), self.bounds(data_set))

    def close(self) -> None:
        """Close all ledgers."""
        with self._opening:
            for each in self._ledgers.values():
                each.close()
            self._ledgers.clear()


def _data_set(row: sqlite3.Row) -> DataSet:
    return DataSet(
        row["name"],
        row["unit"],
        row["about"],
        row["source"],
        row["source_table"],
        row["ledger"],
        row["anchor"],
    )


def _closed(error: DpselectError) -> Refused:
    damaged = (
        "is damaged, so that nothing is charged to it"
        if isinstance(error, LedgerDamaged)
        else "cannot be read"
    )
    return Refused(503, f"the ledger of this data set {damaged}. Ask your curator.")
