"""A ledger in a PostgreSQL database: tables of the schema that the URL leads to, one writer at a time.

Of the ledger, this module and ``postgres_names`` alone import psycopg (extra ``dpselect[postgres]``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable, MissingExtra
from dpselect.ledger.anchor import state_folder
from dpselect.ledger.database import PATIENCE, Held
from dpselect.ledger.tables import ANSWERS, COLUMNS, ENTRIES, HEADER, LAST_TWO

try:
    import psycopg
    from psycopg import errors
    from psycopg.rows import tuple_row

    from dpselect.ledger.postgres_names import adapters, settle
except ImportError:
    raise MissingExtra(
        "a ledger in PostgreSQL needs the package psycopg; there is none. pip install 'dpselect[postgres]'."
    ) from None

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

HEADS = "dpselect_heads"
TABLES = (HEADER, ENTRIES, ANSWERS, HEADS)

_TABLES = [
    """CREATE TABLE dpselect_header (version bigint NOT NULL, measure text NOT NULL, budget text NOT NULL,
    neighbours text NOT NULL, dataset text, unit text, anchor text, created text NOT NULL,
    digest text NOT NULL)""",
    """CREATE TABLE dpselect_entries (number bigint PRIMARY KEY, loss text NOT NULL, total text NOT NULL,
    reason text NOT NULL, request_id text UNIQUE, time text NOT NULL, digest text NOT NULL)""",
    """CREATE TABLE dpselect_answers (number bigint PRIMARY KEY,
    entry bigint NOT NULL UNIQUE REFERENCES dpselect_entries, answer text NOT NULL, digest text NOT NULL)""",
    "CREATE TABLE dpselect_heads (dpselect_entries bigint NOT NULL, dpselect_answers bigint NOT NULL)",
    "CREATE UNIQUE INDEX dpselect_one_header ON dpselect_header ((true))",
    "CREATE UNIQUE INDEX dpselect_one_head ON dpselect_heads ((true))",
    "INSERT INTO dpselect_heads VALUES (0, 0)",
]
# The heads may only count on; everything else may only be added to.
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
        for table in TABLES
    ),
    f"CREATE TRIGGER {HEADS}_kept BEFORE DELETE ON {HEADS} EXECUTE FUNCTION dpselect_refuse()",
    f"""CREATE TRIGGER {HEADS}_count BEFORE UPDATE ON {HEADS} FOR EACH ROW
    EXECUTE FUNCTION dpselect_count_on()""",
]
SCHEMA = [*_TABLES, *_TRIGGERS]
GUARDS = sorted(sql.split()[2] for sql in _TRIGGERS if sql.startswith("CREATE TRIGGER"))

_SETTINGS = [
    "SET lock_timeout = '{}s'",
    "SET idle_in_transaction_session_timeout = '60s'",
    "SET default_transaction_isolation = 'read committed'",
    """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'""",
]
_PASSING = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.InsufficientPrivilege,
    errors.ReadOnlySqlTransaction,
    errors.InFailedSqlTransaction,
)


class PostgresSession:
    """One ledger in one schema of one database."""

    shared = True

    def __init__(self, url: str) -> None:
        """Take the URL; nothing is opened yet. What it says of a user or a password is never shown."""
        self.place = _public(url)
        self._held: Held[Connection] = Held(partial(_connected, url), psycopg.Connection.close)
        self.lock = self._held.lock

    def anchor(self) -> Path:
        """Give a file of this user, named after the cluster, the database and the table."""
        found = self.rows(
            "SELECT (SELECT system_identifier FROM pg_control_system()), d.oid, to_regclass(?)::oid "
            "FROM pg_database d WHERE d.datname = current_database()",
            HEADER,
        )
        name = hashlib.sha256("/".join(map(str, found[0])).encode()).hexdigest()
        return state_folder() / f"{name[:32]}.anchor"

    def writable(self) -> bool:
        """Say whether it is no snapshot: rights on a server come and go."""
        return True

    def exists(self) -> bool:
        """Say whether there is a ledger."""
        return self.rows("SELECT to_regclass(?) IS NOT NULL", HEADER) == [(True,)]

    def create(self, header: Sequence[Any]) -> None:
        """Make the tables and write the header, or nothing."""
        taken = self.exists()
        if not taken:
            try:
                with self._transaction(), self._speaking() as connection:
                    for statement in SCHEMA:
                        connection.execute(statement)
                    connection.execute(_insert(HEADER), header)
            except LedgerDamaged:
                taken = self.exists()  # somebody else made one in this moment
                if not taken:
                    raise
        if taken:
            raise InvalidParameter(
                f"a new ledger needs a schema without one; there is one at {self.place!r}. "
                "Open it: Ledger.open(...), or name another database."
            )

    def rows(self, query: str, *values: object) -> list[Any]:
        """Ask."""
        with self._speaking():
            cursor = self._asked(query.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []

    def _asked(self, query: str, values: Sequence[object] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        """Ask; if the connection died while nobody used it, ask once more over a new one."""
        connection = self._held.get()
        idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        try:
            return connection.execute(query, values or None)
        except psycopg.OperationalError:
            if not (idle and connection.closed):
                raise
        self._held.drop()
        return self._held.get().execute(query, values or None)

    def extend(self, table: str, following: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Lock the heads, so that writers stand in line; a head moves on only from where it was read."""
        with self._transaction() as connection:
            with self._speaking():
                connection.execute(f"SELECT 1 FROM {HEADS} FOR UPDATE")  # noqa: S608 - a name of our own
            row = following(self.rows(LAST_TWO[table]))
            with self._speaking():
                moved = connection.execute(
                    f"UPDATE {HEADS} SET {table} = %s WHERE {table} = %s",  # noqa: S608 - names of our own
                    (row[0], row[0] - 1),
                )
                if moved.rowcount != 1:
                    raise errors.IntegrityConstraintViolation
                connection.execute(_insert(table), row)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        connection = None
        with self._held.lock:
            try:
                with self._speaking():
                    connection = self._asked("BEGIN").connection
                yield connection
                with self._speaking():
                    connection.execute("COMMIT")
            except BaseException:
                self._give_up(connection)
                raise

    def _give_up(self, connection: Connection | None) -> None:
        """Roll back; if nobody knows whether something was begun, hang up."""
        try:
            if connection is not None:
                connection.execute("ROLLBACK")
                return
        except psycopg.Error:
            pass
        self._held.drop()

    @contextmanager
    def _speaking(self) -> Iterator[Connection]:
        """Say in our own words what PostgreSQL refuses: what passes, and what is damage."""
        try:
            with self._held.lock:
                yield self._held.get()
                return
        except _PASSING as problem:
            passing, code = True, problem.sqlstate
        except psycopg.Error as problem:
            passing, code = False, problem.sqlstate
        if passing:
            if code is None or code.startswith(("08", "57")):
                self._held.drop()
            raise LedgerUnavailable(
                f"the ledger at {self.place!r} could not be used: {_cause(code)}. "
                "Release nothing; mend it and try again."
            )
        raise LedgerDamaged(f"{self.place!r} is no ledger, or a damaged one; it accepts no charge.")

    def check(self) -> None:
        """Compare tables, triggers and heads with ours."""
        guards = self.rows(
            """SELECT tgname::text FROM pg_trigger
            WHERE tgrelid IN (to_regclass(?), to_regclass(?), to_regclass(?), to_regclass(?))
            AND NOT tgisinternal AND tgenabled = 'O' ORDER BY tgname::text COLLATE "C" """,
            *TABLES,
        )
        heads = self.rows(
            f"SELECT dpselect_entries = (SELECT count(*) FROM {ENTRIES}), "  # noqa: S608 - names of our own
            f"dpselect_answers = (SELECT count(*) FROM {ANSWERS}) FROM {HEADS}"
        )
        if guards != [(name,) for name in GUARDS] or heads != [(True, True)]:
            raise LedgerDamaged(
                f"the ledger at {self.place!r} lacks its triggers or lost records; it accepts no charge."
            )

    def close(self) -> None:
        """Close the connection."""
        self._held.drop()


def _cause(code: str | None) -> str:
    return "there is no connection" if code is None else f"PostgreSQL says {code}"


def _insert(table: str) -> str:
    marks = ", ".join(["%s"] * len(COLUMNS[table]))
    return f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 - names of our own


def _connected(url: str) -> Connection:
    connection = psycopg.connect(
        url, autocommit=True, connect_timeout=PATIENCE, context=adapters(), row_factory=tuple_row
    )
    try:
        settle(connection)
        for setting in _SETTINGS:
            connection.execute(setting.format(PATIENCE))
    except BaseException:
        connection.close()
        raise
    return connection


def _public(url: str) -> str:
    """Show where a URL leads, without user and password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        parts = None
    if parts is None:
        raise InvalidParameter(
            "a URL of PostgreSQL must be readable. Write postgresql://user@host:5432/database."
        )
    where = f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}"
    return f"postgresql://{where}/{parts.get('dbname', '')}"
