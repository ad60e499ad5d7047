"""No other objects stand in the place of PostgreSQL's own: dpselect.engines.postgres_dialect."""

from collections.abc import Iterator

import psycopg
import pytest

import dpselect
from dpselect import Table
from tests.engines.asking import asked
from tests.servers.postgres import Server

NAMES = ["pie", "soup", "tea"]
CHOICES = [("ann", "pie"), ("ann", "tea"), ("bob", "soup"), ("cid", "pie"), ("dan", "7"), ("eve", "7.0")]
PROBLEMS = [
    dpselect.approval_voting(candidate="dish", candidates=NAMES),
    dpselect.plurality(candidate="dish", candidates=NAMES),
    dpselect.approval_voting(candidate="dish", candidates=[7, 8]),
    dpselect.pricing(value="dish", prices=[1, 7]),
]
# Types that fit better than those of pg_catalog are taken wherever on the path they are found, and all else
# where the path begins with a schema that others write to.
BETTER = """
CREATE FUNCTION {schema}.same(varchar, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR {schema}.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = {schema}.same);
CREATE OPERATOR {schema}.~ (LEFTARG = varchar, RIGHTARG = text, FUNCTION = {schema}.same);
CREATE FUNCTION {schema}.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS $$ VALUES ('pie'), ('pie') $$;
"""
FIRST = """
CREATE FUNCTION {schema}.never(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR {schema}.= (LEFTARG = text, RIGHTARG = text, FUNCTION = {schema}.never);
CREATE OPERATOR {schema}.~ (LEFTARG = text, RIGHTARG = text, FUNCTION = {schema}.never);
CREATE FUNCTION {schema}.nothing(text, text) RETURNS text LANGUAGE sql AS $$ SELECT '' $$;
CREATE OPERATOR {schema}.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = {schema}.nothing);
CREATE FUNCTION {schema}.few(bigint, int) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR {schema}.<= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = {schema}.few);
CREATE FUNCTION {schema}.md5(text) RETURNS text LANGUAGE sql AS $$ SELECT '' $$;
CREATE FUNCTION {schema}.md5(bytea) RETURNS text LANGUAGE sql AS $$ SELECT '' $$;
CREATE FUNCTION {schema}.convert_to(text, name) RETURNS bytea LANGUAGE sql AS $$ SELECT ''::bytea $$;
CREATE FUNCTION {schema}.octet_length(text) RETURNS int LANGUAGE sql AS $$ SELECT 9999 $$;
CREATE FUNCTION {schema}.getdatabaseencoding() RETURNS name LANGUAGE sql AS $$ SELECT 'LATIN1'::name $$;
CREATE FUNCTION {schema}.current_schemas(bool) RETURNS name[] LANGUAGE sql AS $$ SELECT '{{evil}}'::name[] $$;
CREATE FUNCTION {schema}.unnest(name[]) RETURNS SETOF name LANGUAGE sql AS $$ VALUES ('evil'::name) $$;
CREATE FUNCTION {schema}.set_config(text, text, bool) RETURNS text LANGUAGE sql AS $$ SELECT $2 $$;
CREATE FUNCTION {schema}.has_any_column_privilege(oid, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE COLLATION {schema}."C" (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN {schema}.text AS pg_catalog.varchar CHECK (value <> 'tea');
CREATE TABLE {schema}.pg_class AS TABLE pg_catalog.pg_class WITH NO DATA;
CREATE TABLE {schema}.pg_attribute AS SELECT attrelid FROM pg_catalog.pg_attribute WITH NO DATA;
CREATE FUNCTION {schema}.zero(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
CREATE OPERATOR {schema}.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {schema}.zero);
CREATE OPERATOR {schema}.* (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {schema}.zero);
CREATE OPERATOR {schema}.% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {schema}.zero);
CREATE OPERATOR {schema}.# (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {schema}.zero);
CREATE OPERATOR {schema}.& (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {schema}.zero);
CREATE FUNCTION {schema}.substr(text, int, int) RETURNS text LANGUAGE sql AS $$ SELECT '0' $$;
CREATE TABLE {schema}.counted (person text, key_0 bigint);
"""


@pytest.fixture
def database(postgres_server: Server) -> Iterator[str]:
    """A database of its own, with rows, and with a schema that others write to."""
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS shadowed")
        connection.execute("CREATE DATABASE shadowed")
        url = postgres_server.url("shadowed")
        with psycopg.connect(url, autocommit=True) as inside:
            inside.execute("CREATE SCHEMA evil")
            inside.execute("CREATE TABLE votes (who varchar, dish varchar)")
            inside.cursor().executemany("INSERT INTO votes VALUES (%s, %s)", CHOICES)
        yield url
        connection.execute("DROP DATABASE shadowed WITH (FORCE)")


def scores(url: str) -> list[list[int]]:
    return [
        asked(problem, Table(url, table="votes", unit="who", numbers_in_text=True)) for problem in PROBLEMS
    ]


@pytest.mark.parametrize(
    ("objects", "path"),
    [
        (BETTER, '"$user", public, evil'),
        (BETTER, "evil, public, pg_catalog"),
        (FIRST, "evil, public, pg_catalog"),
        (FIRST, "evil, public"),
    ],
)
def test_what_others_create_on_the_search_path_changes_no_score(
    database: str, objects: str, path: str
) -> None:
    before = scores(database)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(objects.format(schema="evil"))
        connection.execute(f"ALTER DATABASE shadowed SET search_path = {path}")
    assert scores(database) == before


def test_a_table_that_two_schemas_of_the_path_hold_is_not_guessed(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE evil.votes (who varchar, dish varchar)")
        connection.execute("ALTER DATABASE shadowed SET search_path = evil, public")
    with pytest.raises(dpselect.errors.InvalidParameter, match="the name of one table that you may read"):
        scores(database)
    problem = PROBLEMS[0]
    assert asked(problem, Table(database, table="public.votes", unit="who")) == [2, 1, 1]
