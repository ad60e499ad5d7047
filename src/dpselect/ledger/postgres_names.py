"""Names and values as the server and psycopg themselves mean them, whatever others put in their place."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.postgres import register_default_adapters, register_default_types

from dpselect.ledger.tables import HEADER


def adapters() -> AdaptersMap:
    """Give psycopg's own way of reading values, whatever the program has registered for all connections."""
    adapters = AdaptersMap()
    register_default_types(adapters.types)
    register_default_adapters(adapters)
    return adapters


def settle(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Look names up in ``pg_catalog`` first, then where the ledger is or will be, and nowhere else.

    A path may begin with a schema in which others put functions and operators in the place of the server's.
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
