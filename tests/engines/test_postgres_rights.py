"""What a role may not read is refused before the charge: dpselect.engines.postgres_catalogue."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import dpselect
from dpselect import Table
from dpselect.errors import InvalidParameter
from tests.engines.asking import asked
from tests.servers.postgres import Server

PIE = dpselect.plurality(candidate="dish", candidates=["pie", "tea"])
SETUP = """
DROP SCHEMA IF EXISTS kitchen CASCADE; DROP SCHEMA IF EXISTS locked CASCADE;
DROP ROLE IF EXISTS analyst; DROP ROLE IF EXISTS cook;
CREATE ROLE analyst LOGIN; CREATE ROLE cook LOGIN;
CREATE SCHEMA kitchen; CREATE SCHEMA locked; GRANT USAGE ON SCHEMA kitchen TO analyst, cook;
CREATE TABLE kitchen.votes (who text, dish text, secret text);
INSERT INTO kitchen.votes VALUES ('ann', 'pie', '31337'), ('bob', 'pie', '31337'), ('cid', 'tea', '31337');
CREATE TABLE kitchen.mine AS TABLE kitchen.votes;
CREATE FUNCTION kitchen.upper_dish(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
REVOKE EXECUTE ON FUNCTION kitchen.upper_dish FROM public;
"""


@pytest.fixture
def kitchen(postgres_server: Server) -> Iterator[str]:
    """A server with rows, and the URL of a user without rights."""
    as_owner(postgres_server, SETUP)
    yield postgres_server.url(user="analyst")
    as_owner(
        postgres_server, "DROP SCHEMA kitchen CASCADE; DROP SCHEMA locked CASCADE; DROP ROLE analyst, cook"
    )


def as_owner(server: Server, statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(statements)


def scores(url: str, table: str, unit: str | None = "who") -> list[int]:
    return asked(PIE, Table(url, table=table, unit=unit))


WITHHELD = {
    "nothing is granted": "",
    "only writing is granted": "GRANT INSERT, UPDATE, DELETE ON kitchen.votes TO analyst",
    "the schema is closed": "GRANT SELECT ON kitchen.votes TO analyst; "
    "REVOKE USAGE ON SCHEMA kitchen FROM analyst",
    "another column is granted": "GRANT SELECT (who, secret) ON kitchen.votes TO analyst",
    "the unit is not granted": "GRANT SELECT (dish) ON kitchen.votes TO analyst",
    "the owner of a view may not read the table": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE VIEW kitchen.votes AS TABLE kitchen.base; ALTER VIEW kitchen.votes OWNER TO cook; "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "the owner of a view behind a view may not read a column": "ALTER TABLE kitchen.votes RENAME TO base; "
    "GRANT SELECT (who, secret) ON kitchen.base TO cook; "
    "CREATE VIEW kitchen.inner_votes AS SELECT who, dish FROM kitchen.base; "
    "ALTER VIEW kitchen.inner_votes OWNER TO cook; "
    "CREATE VIEW kitchen.votes AS TABLE kitchen.inner_votes; GRANT SELECT ON kitchen.votes TO analyst",
    "whoever asks a view may not read the table": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE VIEW kitchen.votes WITH (security_invoker) AS TABLE kitchen.base; "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "whoever asks through a second view may not read the table": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE VIEW kitchen.inner_votes WITH (security_invoker) AS TABLE kitchen.base; "
    "CREATE VIEW kitchen.votes AS TABLE kitchen.inner_votes; GRANT SELECT ON kitchen.votes TO analyst",
    "a function of a view is withheld": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE VIEW kitchen.votes AS SELECT who, kitchen.upper_dish(dish) AS dish FROM kitchen.base; "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "a function of a policy is withheld": "ALTER TABLE kitchen.votes ENABLE ROW LEVEL SECURITY; "
    "CREATE POLICY one ON kitchen.votes USING (kitchen.upper_dish(dish) <> ''); "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "a table of a policy is withheld": "ALTER TABLE kitchen.votes ENABLE ROW LEVEL SECURITY; "
    "CREATE POLICY one ON kitchen.votes USING (who IN (SELECT who FROM kitchen.mine)); "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "a materialized view is not filled": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE MATERIALIZED VIEW kitchen.votes AS TABLE kitchen.base WITH NO DATA; "
    "GRANT SELECT ON kitchen.votes TO analyst",
}


@pytest.mark.parametrize("statements", WITHHELD.values(), ids=list(WITHHELD))
def test_what_a_role_cannot_read_is_refused_before_the_charge(
    postgres_server: Server, kitchen: str, statements: str, tmp_path: Path
) -> None:
    as_owner(postgres_server, statements)
    with psycopg.connect(kitchen) as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT who, dish FROM kitchen.votes")
    ledger = dpselect.Ledger.create(tmp_path / "votes.ledger", budget=dpselect.PureDP(1))
    table = Table(kitchen, table="kitchen.votes", unit="who")
    with pytest.raises(InvalidParameter, match=r"^(table|column '(who|dish)') must be ") as caught:
        dpselect.select(PIE, table, epsilon=1, ledger=ledger)
    assert "31337" not in str(caught.value)
    assert [*ledger.entries()] == []


GRANTED = {
    "the columns that are asked for are granted": "GRANT SELECT (who, dish) ON kitchen.votes TO analyst",
    "a view's owner may read, whoever asks may not": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE VIEW kitchen.votes AS SELECT who, dish FROM kitchen.base; "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "a view's owner may read the columns that it needs": "ALTER TABLE kitchen.votes RENAME TO base; "
    "GRANT SELECT (who, dish) ON kitchen.base TO cook; "
    "CREATE VIEW kitchen.votes AS SELECT who, dish FROM kitchen.base; "
    "ALTER VIEW kitchen.votes OWNER TO cook; GRANT SELECT ON kitchen.votes TO analyst",
    "a materialized view": "ALTER TABLE kitchen.votes RENAME TO base; "
    "CREATE MATERIALIZED VIEW kitchen.votes AS TABLE kitchen.base; GRANT SELECT ON kitchen.votes TO analyst",
    "a partitioned table whose parts are withheld": "DROP TABLE kitchen.votes; "
    "CREATE TABLE kitchen.votes (who text, dish text) PARTITION BY LIST (dish); "
    "CREATE TABLE kitchen.pies PARTITION OF kitchen.votes FOR VALUES IN ('pie'); "
    "CREATE TABLE kitchen.rest PARTITION OF kitchen.votes DEFAULT; "
    "INSERT INTO kitchen.votes SELECT who, dish FROM kitchen.mine; GRANT SELECT ON kitchen.votes TO analyst",
    "columns of domains": "CREATE DOMAIN kitchen.name AS varchar(9) CHECK (value <> ''); "
    "CREATE DOMAIN kitchen.dish AS kitchen.name; "
    "ALTER TABLE kitchen.votes ALTER dish TYPE kitchen.dish, ALTER who TYPE kitchen.name; "
    "GRANT SELECT ON kitchen.votes TO analyst",
    "policies, though the role has switched them off": "ALTER TABLE kitchen.votes ENABLE ROW LEVEL SECURITY; "
    "CREATE POLICY one ON kitchen.votes USING (secret <> ''); GRANT SELECT ON kitchen.votes TO analyst; "
    "ALTER ROLE analyst SET row_security = off",
    "a policy for others, which is withheld": "ALTER TABLE kitchen.votes ENABLE ROW LEVEL SECURITY; "
    "CREATE POLICY one ON kitchen.votes USING (true); GRANT SELECT ON kitchen.votes TO analyst; "
    "CREATE POLICY others ON kitchen.votes TO cook USING (who IN (SELECT who FROM kitchen.mine))",
    "a foreign table": "CREATE EXTENSION IF NOT EXISTS postgres_fdw; DROP SERVER IF EXISTS here CASCADE; "
    "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{port}', "
    "dbname 'postgres'); CREATE USER MAPPING FOR analyst SERVER here OPTIONS (user 'tester', "
    "password_required 'false'); DROP TABLE kitchen.votes; CREATE FOREIGN TABLE kitchen.votes (who text, "
    "dish text) SERVER here OPTIONS (schema_name 'kitchen', table_name 'mine'); "
    "GRANT SELECT ON kitchen.votes TO analyst",
}


@pytest.mark.parametrize("statements", GRANTED.values(), ids=list(GRANTED))
def test_what_a_role_may_read_is_read(postgres_server: Server, kitchen: str, statements: str) -> None:
    as_owner(postgres_server, statements.replace("{port}", str(postgres_server.port)))
    try:
        assert scores(kitchen, "kitchen.votes") == [2, 1]
        assert scores(kitchen, "kitchen.votes", None) == [2, 1]
    finally:
        as_owner(postgres_server, "DROP SERVER IF EXISTS here CASCADE" if "SERVER" in statements else "")


@pytest.mark.parametrize(
    "kind", ["char(5)", "name", '"char"', "oid", "citext", "bytea", "text[]", "kitchen.mood"]
)
def test_types_that_are_neither_text_nor_numbers_are_refused_before_the_charge(
    postgres_server: Server, kitchen: str, kind: str
) -> None:
    as_owner(
        postgres_server,
        "CREATE TYPE kitchen.mood AS ENUM ('pie'); CREATE EXTENSION IF NOT EXISTS citext; "
        f"CREATE TABLE kitchen.odd (who {kind}, dish {kind}); GRANT SELECT ON kitchen.odd TO analyst",
    )
    with pytest.raises(InvalidParameter, match="unit must be a column of text, whole numbers or UUIDs"):
        scores(kitchen, "kitchen.odd")
    with pytest.raises(
        InvalidParameter, match="column 'dish' must hold text or numbers; it holds values of another type"
    ):
        scores(kitchen, "kitchen.odd", None)
