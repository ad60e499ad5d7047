"""A connection to PostgreSQL on which names and values mean what the server and psycopg mean by them.

Others may shadow functions, operators and tables in a schema of the search path. A program may register its
own readers of values with psycopg. Neither reaches the ledger.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.postgres import register_default_adapters, register_default_types
from psycopg.rows import tuple_row

from dpselect.errors import InvalidParameter
from dpselect.ledger.database import HEADER, WRITER_TIMEOUT_SECONDS

PostgresConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_SETTINGS = [
    "SET lock_timeout = '{}s'",
    "SET idle_in_transaction_session_timeout = '60s'",
    "SET default_transaction_isolation = 'read committed'",
    """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'""",
]


def open_connection(url: str) -> PostgresConnection:
    """Open a connection with our search path, readers of values and timeouts."""
    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=WRITER_TIMEOUT_SECONDS,
        context=_adapters(),
        row_factory=tuple_row,
    )
    try:
        _fix_search_path(connection)
        for setting in _SETTINGS:
            connection.execute(setting.format(WRITER_TIMEOUT_SECONDS))
    except BaseException:
        connection.close()
        raise
    return connection


def _adapters() -> AdaptersMap:
    """Give psycopg's own readers of values, without those that the program has registered."""
    adapters = AdaptersMap()
    register_default_types(adapters.types)
    register_default_adapters(adapters)
    return adapters


def _fix_search_path(connection: PostgresConnection) -> None:
    """Look names up in ``pg_catalog`` first, then in the schema of the ledger, and nowhere else.

    A user's path may begin with a schema where others define functions and operators of the server's names.
    """
    found = connection.execute("SELECT pg_catalog.unnest(pg_catalog.current_schemas(false))")
    path = [schema for (schema,) in found if schema != "pg_catalog"]
    connection.execute("SET search_path = pg_catalog, pg_temp")
    homes = connection.execute(
        "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relname = %s AND n.nspname = ANY (%s::text[])",
        (HEADER, path),
    ).fetchall()
    home = [schema for schema in path if (schema,) in homes] or path
    connection.execute(
        "SELECT set_config('search_path', concat_ws(', ', quote_ident(%s), 'pg_temp'), false)",
        (home[0] if home else None,),
    )


def public_url(url: str) -> str:
    """Write where a URL leads, without user and password."""
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
