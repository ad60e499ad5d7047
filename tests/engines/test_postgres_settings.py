"""What a server, a role or a program has set changes no score: dpselect.engines.postgres_catalogue."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql
from psycopg.adapt import Loader
from psycopg.pq import Format

import dpselect
from dpselect import Table
from dpselect.engines import postgres_catalogue
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import CASES
from tests.servers.postgres import Server

CONTRARY = {
    "array_nulls": "off",
    "backslash_quote": "on",
    "bytea_output": "escape",
    "DateStyle": "German",
    "default_transaction_deferrable": "on",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "enable_hashagg": "off",
    "enable_hashjoin": "off",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "escape_string_warning": "off",
    "extra_float_digits": "-15",
    "gin_fuzzy_search_limit": "1",
    "IntervalStyle": "sql_standard",
    "quote_all_identifiers": "on",
    "row_security": "off",
    "standard_conforming_strings": "off",
    "TimeZone": "Pacific/Kiritimati",
    "transform_null_equals": "on",
    "xmlbinary": "hex",
}


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def set_contrary(server: Server, owner: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for name, value in CONTRARY.items():
            statement = "ALTER {} SET {} = {}"
            connection.execute(
                sql.SQL(statement).format(sql.SQL(owner), sql.Identifier(name), sql.Literal(value))
            )


@contextmanager
def database(server: Server, name: str, words: str = "") -> Iterator[str]:
    run(server.url(), f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} TEMPLATE template0 {words}")
    try:
        yield server.url(name)
    finally:
        run(server.url(), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("owner", ["ROLE contrary", "DATABASE contrary"])
def test_the_scores_are_those_of_the_reference_whatever_is_set(
    postgres_server: Server, owner: str, subtests: pytest.Subtests
) -> None:
    with database(postgres_server, "contrary"):
        run(postgres_server.url(), "DROP ROLE IF EXISTS contrary", "CREATE ROLE contrary LOGIN")
        set_contrary(postgres_server, owner)
        for case in CASES[:: 1 if owner == "ROLE contrary" else 4]:
            with subtests.test(case.name):
                loading.to_postgres(postgres_server.url("contrary"), "rows", case.kinds, case.rows)
                run(postgres_server.url("contrary"), "GRANT SELECT ON rows TO contrary")
                url = postgres_server.url("contrary", "contrary")
                table = Table(url, table="rows", unit=case.unit, **case.options)
                assert asked(case.problem, table) == case.points


TEXT_OF = {
    "who / 3.0::float8": "0.3333333333333333",
    "convert_to('a', 'UTF8')": r"\x61",
    "date '2020-01-31' + who": "2020-02-01",
    "to_timestamp(who)": "1970-01-01 00:00:01+00",
    "make_interval(0, 0, 0, who, 1)": "1 day 01:00:00",
    "xmlelement(name a, convert_to('a', 'UTF8'))": "<a>YQ==</a>",
}
"""Expressions of a view, where ``who`` is 1, and their text by the settings that we make."""


def test_the_text_that_a_view_makes_of_a_value_does_not_depend_on_settings(
    postgres_server: Server, subtests: pytest.Subtests
) -> None:
    with database(postgres_server, "contrary") as url:
        run(url, "CREATE TABLE people (who int)", "INSERT INTO people VALUES (1)")
        set_contrary(postgres_server, "DATABASE contrary")
        for expression, text in TEXT_OF.items():
            with subtests.test(expression):
                view = f"CREATE OR REPLACE VIEW texts AS SELECT who, ({expression})::text AS x FROM people"
                run(url, view)
                problem = dpselect.approval_voting(candidate="x", candidates=[text])
                assert asked(problem, Table(url, table="texts", unit="who")) == [1]


FLOATS = [0.1 + 0.2, 1e22 / 3, 0.3, 5e-324, 1.7976931348623157e308, 100000000.00000001]
SINGLES = [0.1, 0.3, 1e22 / 3, 100000000.00000001]


@pytest.mark.parametrize("digits", ["1", "-15"])
@pytest.mark.parametrize("kind", ["double precision", "real"])
def test_floats_arrive_as_they_are(
    postgres_server: Server, kind: str, digits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice: their digits are set, and would not be needed, because floats arrive in binary."""
    monkeypatch.setattr(
        postgres_catalogue,
        "TRANSACTION_SETTINGS",
        {**postgres_catalogue.TRANSACTION_SETTINGS, "extra_float_digits": digits},
    )
    url = postgres_server.url()
    values = [str(value) for value in (FLOATS if kind == "double precision" else SINGLES)]
    run(
        url,
        "ALTER DATABASE postgres SET extra_float_digits = '-15'",
        "DROP TABLE IF EXISTS floats",
        f"CREATE TABLE floats (who int, x {kind})",
    )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.cursor().executemany("INSERT INTO floats VALUES (%s, %s::text::float8)", enumerate(values))
    arrow = pa.float64() if kind == "double precision" else pa.float32()
    same = pa.table({"who": range(len(values)), "x": pa.array(map(float, values), arrow)})
    try:
        for problem in (
            dpselect.pricing(value="x", prices=values),
            dpselect.approval_voting(candidate="x", candidates=[float(value) for value in values]),
        ):
            assert asked(problem, Table(url, table="floats", unit="who")) == asked(
                problem, Table(same, unit="who")
            )
    finally:
        run(url, "ALTER DATABASE postgres RESET extra_float_digits")


@pytest.mark.parametrize("words", ["da", "nb", "en-u-kn-true", "en-u-ks-level1"])
def test_the_rows_of_a_person_are_kept_by_the_bytes_of_the_hash(postgres_server: Server, words: str) -> None:
    rows = [(who, dish) for who in range(200) for dish in ("pie", "soup", "tea")]
    same = pa.table({"who": [who for who, _ in rows], "dish": [dish for _, dish in rows]})
    problem = dpselect.plurality(candidate="dish", candidates=["pie", "soup", "tea"])
    icu = f"LOCALE_PROVIDER icu ICU_LOCALE '{words}' LOCALE 'C' ENCODING 'UTF8'"
    with database(postgres_server, "collated", icu) as url:
        run(
            url,
            "CREATE TABLE votes AS SELECT who, dish "
            "FROM generate_series(0, 199) AS who, unnest(ARRAY['pie', 'soup', 'tea']) AS dish",
        )
        assert asked(problem, Table(url, table="votes", unit="who")) == asked(
            problem, Table(same, unit="who")
        )


@pytest.fixture
def misread() -> Iterator[None]:
    """A program that has its own idea of every type."""

    class Misreading(Loader):
        def load(self, data: Any) -> int:
            del data
            return 1

    class MisreadingBinary(Misreading):
        format = Format.BINARY

    names = ["int2", "int4", "int8", "float4", "float8", "numeric", "text", "name", "oid", "bool"]
    before = psycopg.adapters._loaders  # noqa: SLF001 - to put it back
    kept = [loaders.copy() for loaders in before]
    for name in names:
        psycopg.adapters.register_loader(name, Misreading)
        psycopg.adapters.register_loader(name, MisreadingBinary)
    yield
    psycopg.adapters._loaders = kept  # noqa: SLF001 - as it was


@pytest.mark.usefixtures("misread")
def test_a_loader_that_a_program_registered_changes_no_score(postgres_server: Server) -> None:
    for case in CASES[:9]:
        loading.to_postgres(postgres_server.url(), "misread", case.kinds, case.rows)
        assert (
            asked(case.problem, Table(postgres_server.url(), table="misread", unit=case.unit)) == case.points
        )


def test_tens_and_hundreds_are_read_as_they_are_kept(postgres_server: Server) -> None:
    url = postgres_server.url()
    run(
        url,
        "DROP TABLE IF EXISTS rounded",
        "CREATE TABLE rounded (who int, x numeric(5, -2), y numeric(3, 5))",
        "INSERT INTO rounded VALUES (1, 12345, 0.00123), (2, 12300, 0.00999), (3, 9999900, 0), (4, 49, NULL)",
    )
    table = Table(url, table="rounded", unit="who")
    hundreds = [0, 50, 100, 12300, 12345, 9999900, 10**7]
    assert asked(dpselect.approval_voting(candidate="x", candidates=hundreds), table) == [1, 0, 0, 2, 0, 1, 0]
    tiny: Sequence[Any] = [0, Decimal("0.00123"), Decimal("0.00999"), Decimal("0.01"), Decimal("0.000001")]
    assert asked(dpselect.approval_voting(candidate="y", candidates=tiny), table) == [1, 1, 1, 0, 0]
    # In cents, as every price.
    assert asked(dpselect.pricing(value="x", prices=[12300, 12301]), table) == [3690000, 1230100]
    who = dpselect.approval_voting(candidate="who", candidates=[1, 2, 3, 4])
    for where, there in (
        ("x = 12300", [1, 1, 0, 0]),
        ("x <> 12345", [1, 1, 1, 1]),
        ("x > 12299.5", [1, 1, 1, 0]),
        ("x < 12301", [1, 1, 0, 1]),
        ("x <= 1e9", [1, 1, 1, 1]),
        ("y >= 0.001234", [0, 1, 0, 0]),
    ):
        assert asked(who, replace(table, where=where)) == there, where


def test_the_path_is_the_catalogue_alone_once_the_table_is_open(postgres_server: Server) -> None:
    run(postgres_server.url(), "DROP TABLE IF EXISTS path", "CREATE TABLE path (who int)")
    with Table(postgres_server.url(), table="path", unit="who").open() as engine:
        connection: Any = vars(engine)["connection"]
        assert connection.execute("SHOW search_path").fetchall() == [("pg_catalog, pg_temp",)]


def test_a_table_that_was_opened_is_not_closed_by_the_servers_patience(postgres_server: Server) -> None:
    url = postgres_server.url(user="hasty")
    run(
        postgres_server.url(),
        "DROP TABLE IF EXISTS slow",
        "DROP ROLE IF EXISTS hasty",
        "CREATE ROLE hasty LOGIN",
        "CREATE TABLE slow AS SELECT i AS who, 'pie' AS dish FROM generate_series(1, 300000) AS i",
        "GRANT SELECT ON slow TO hasty",
        *(
            f"ALTER ROLE hasty SET {setting} = '100ms'"
            for setting in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        ),
    )
    problem = dpselect.plurality(candidate="dish", candidates=["pie"])
    with Table(url, table="slow", unit="who").open() as engine:
        request = problem.request(engine.schema, unit="who")
        time.sleep(0.3)
        assert [*problem.scores(engine.counts(request, bytes(16)))] == [300000]
