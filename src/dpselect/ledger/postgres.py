"""A ledger in a PostgreSQL database: tables in the schema that the URL leads to, one writer at a time.

The declarations below are part of the stored format. In the ledger only this module and
``postgres_connection`` import psycopg (extra ``dpselect[postgres]``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable, MissingExtra
from dpselect.ledger.anchor import state_folder
from dpselect.ledger.database import ANSWERS, COLUMNS_OF, ENTRIES, HEADER, LAYOUTS, PRESENT, Layout
from dpselect.ledger.fork_safe_connection import ForkSafeConnection

try:
    import psycopg
    from psycopg import errors

    from dpselect.ledger.postgres_connection import PostgresConnection, open_connection, public_url
except ImportError:
    raise MissingExtra(
        "a ledger in PostgreSQL needs the package psycopg; there is none. pip install 'dpselect[postgres]'."
    ) from None

HEADS = "dpselect_heads"
POSTGRES_TABLES = (HEADER, ENTRIES, ANSWERS, HEADS)

_TABLES = [
    """CREATE TABLE dpselect_header (version bigint NOT NULL, measure text NOT NULL, budget text NOT NULL,
    neighbours text NOT NULL, dataset text, unit text, anchor text, created text NOT NULL,
    digest text NOT NULL)""",
    """CREATE TABLE dpselect_entries (number bigint PRIMARY KEY, loss text NOT NULL, total text NOT NULL,
    reason text NOT NULL, request_id text, time text NOT NULL, account text, act text, amount text,
    digest text NOT NULL)""",
    "CREATE UNIQUE INDEX dpselect_requests ON dpselect_entries (request_id, coalesce(account, ''))",
    """CREATE TABLE dpselect_answers (number bigint PRIMARY KEY,
    entry bigint NOT NULL UNIQUE REFERENCES dpselect_entries, answer text NOT NULL, digest text NOT NULL)""",
    "CREATE TABLE dpselect_heads (dpselect_entries bigint NOT NULL, dpselect_answers bigint NOT NULL)",
    "CREATE UNIQUE INDEX dpselect_one_header ON dpselect_header ((true))",
    "CREATE UNIQUE INDEX dpselect_one_head ON dpselect_heads ((true))",
    "INSERT INTO dpselect_heads VALUES (0, 0)",
]
# The table of heads holds the numbers of the last records. Heads may only grow by one; other tables may only
# get new rows.
_TRIGGERS = [
    """CREATE FUNCTION dpselect_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a ledger is only ever added to'; END $$""",
    """CREATE FUNCTION dpselect_count_on() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (NEW.dpselect_entries - OLD.dpselect_entries) + (NEW.dpselect_answers - OLD.dpselect_answers) <> 1
    OR NEW.dpselect_entries < OLD.dpselect_entries OR NEW.dpselect_answers < OLD.dpselect_answers
    THEN RAISE EXCEPTION 'a ledger is only ever added to'; END IF; RETURN NEW; END $$""",
    *(
        f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table} EXECUTE FUNCTION dpselect_refuse()"
        for table in (HEADER, ENTRIES, ANSWERS)
    ),
    *(
        f"CREATE TRIGGER {table}_whole BEFORE TRUNCATE ON {table} EXECUTE FUNCTION dpselect_refuse()"
        for table in POSTGRES_TABLES
    ),
    f"CREATE TRIGGER {HEADS}_kept BEFORE DELETE ON {HEADS} EXECUTE FUNCTION dpselect_refuse()",
    f"""CREATE TRIGGER {HEADS}_count BEFORE UPDATE ON {HEADS} FOR EACH ROW
    EXECUTE FUNCTION dpselect_count_on()""",
]
POSTGRES_SCHEMA = [*_TABLES, *_TRIGGERS]
TRIGGER_NAMES = sorted(sql.split()[2] for sql in _TRIGGERS if sql.startswith("CREATE TRIGGER"))

_TEMPORARY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.InsufficientPrivilege,
    errors.ReadOnlySqlTransaction,
    errors.InFailedSqlTransaction,
)


class PostgresDatabase:
    """One ledger in one schema of one database."""

    shared = True

    def __init__(self, url: str) -> None:
        """Take the URL; nothing is opened yet. User and password in it are never shown."""
        self.place = public_url(url)
        self.layout = PRESENT
        self._connection: ForkSafeConnection[PostgresConnection] = ForkSafeConnection(
            partial(open_connection, url), psycopg.Connection.close
        )
        self.lock = self._connection.lock

    def anchor(self) -> Path:
        """Give the path of a file of this user, named after the cluster, the database and the table."""
        found = self.rows(
            "SELECT (SELECT system_identifier FROM pg_control_system()), d.oid, to_regclass(?)::oid "
            "FROM pg_database d WHERE d.datname = current_database()",
            HEADER,
        )
        name = hashlib.sha256("/".join(map(str, found[0])).encode()).hexdigest()
        return state_folder() / f"{name[:32]}.anchor"

    def writable(self) -> bool:
        """Say yes: rights on a server come and go, and a server is no snapshot."""
        return True

    def exists(self) -> bool:
        """Say whether the schema holds a ledger."""
        return self.rows("SELECT to_regclass(?) IS NOT NULL", HEADER) == [(True,)]

    def create(self, header: Sequence[Any]) -> None:
        """Make the tables and write the header, or make nothing."""
        taken = self.exists()
        if not taken:
            try:
                with self._transaction(), self._own_errors() as connection:
                    for statement in POSTGRES_SCHEMA:
                        connection.execute(statement)
                    connection.execute(_insert(HEADER, len(header)), header)
            except LedgerDamaged:
                taken = self.exists()  # another process made one in this moment
                if not taken:
                    raise
        if taken:
            raise InvalidParameter(
                f"a new ledger needs a schema without one; there is one at {self.place!r}. "
                "Open it: Ledger.open(...), or name another database."
            )

    def rows(self, query: str, *values: object) -> list[Any]:
        """Run a query."""
        with self._own_errors():
            cursor = self._run(query.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []

    def _run(self, query: str, values: Sequence[object] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a query. If the connection died while idle, run it once more over a new one."""
        connection = self._connection.get()
        idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        try:
            return connection.execute(query, values or None)
        except psycopg.OperationalError:
            if not (idle and connection.closed):
                raise
        self._connection.drop()
        return self._connection.get().execute(query, values or None)

    def extend(self, table: str, following: Callable[[], Sequence[Any]]) -> None:
        """Lock the heads, so that writers queue. A head grows only from the number that was read."""
        with self._transaction() as connection:
            with self._own_errors():
                connection.execute(f"SELECT 1 FROM {HEADS} FOR UPDATE")  # noqa: S608 - a name of our own
            row = following()
            with self._own_errors():
                moved = connection.execute(
                    f"UPDATE {HEADS} SET {table} = %s WHERE {table} = %s",  # noqa: S608 - names of our own
                    (row[0], row[0] - 1),
                )
                if moved.rowcount != 1:
                    raise errors.IntegrityConstraintViolation
                connection.execute(_insert(table, len(row)), row)

    @contextmanager
    def _transaction(self) -> Iterator[PostgresConnection]:
        connection = None
        with self._connection.lock:
            try:
                with self._own_errors():
                    connection = self._run("BEGIN").connection
                yield connection
                with self._own_errors():
                    connection.execute("COMMIT")
            except BaseException:
                self._give_up(connection)
                raise

    def _give_up(self, connection: PostgresConnection | None) -> None:
        """Roll back. If it is unknown whether a transaction began, close the connection."""
        try:
            if connection is not None:
                connection.execute("ROLLBACK")
                return
        except psycopg.Error:
            pass
        self._connection.drop()

    @contextmanager
    def _own_errors(self) -> Iterator[PostgresConnection]:
        """Turn errors of PostgreSQL into ours: temporary failures, and damage."""
        try:
            with self._connection.lock:
                yield self._connection.get()
                return
        except _TEMPORARY as problem:
            temporary, code = True, problem.sqlstate
        except psycopg.Error as problem:
            temporary, code = False, problem.sqlstate
        except ValueError:  # a text that is not UTF-8: a page of the server is damaged
            temporary, code = False, None
        if temporary:
            if code is None or code.startswith(("08", "57")):
                self._connection.drop()
            raise LedgerUnavailable(
                f"the ledger at {self.place!r} could not be used: {_cause(code)}. "
                "Release nothing; mend it and try again."
            )
        raise LedgerDamaged(f"{self.place!r} is no ledger, or a damaged one; it accepts no charge.")

    def check(self) -> None:
        """Compare triggers with ours, and heads with the numbers of records; find which columns there are."""
        triggers = self.rows(
            """SELECT tgname::text FROM pg_trigger
            WHERE tgrelid IN (to_regclass(?), to_regclass(?), to_regclass(?), to_regclass(?))
            AND NOT tgisinternal AND tgenabled = 'O' ORDER BY tgname::text COLLATE "C" """,
            *POSTGRES_TABLES,
        )
        heads = self.rows(
            f"SELECT dpselect_entries = (SELECT count(*) FROM {ENTRIES}), "  # noqa: S608 - names of our own
            f"dpselect_answers = (SELECT count(*) FROM {ANSWERS}) FROM {HEADS}"
        )
        if triggers != [(name,) for name in TRIGGER_NAMES] or heads != [(True, True)]:
            raise LedgerDamaged(
                f"the ledger at {self.place!r} lacks its triggers or lost records; it accepts no charge."
            )
        self.layout = self._found_layout()

    def _found_layout(self) -> Layout:
        """Compare the names of columns with those of every layout that was ever written."""
        found = {
            table: self.rows(
                "SELECT attname::text FROM pg_attribute "
                "WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                table,
            )
            for table in COLUMNS_OF
        }
        for layout in LAYOUTS:
            if all(found[table] == [(name,) for name in layout.columns(table)] for table in COLUMNS_OF):
                return layout
        raise LedgerDamaged(f"{self.place!r} is no ledger, or a damaged one; it accepts no charge.")

    def close(self) -> None:
        """Close the connection."""
        self._connection.drop()


def _cause(code: str | None) -> str:
    return "there is no connection" if code is None else f"PostgreSQL says {code}"


def _insert(table: str, columns: int) -> str:
    marks = ", ".join(["%s"] * columns)
    return f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 - names of our own
