"""Databases in other encodings keep the rows that all engines keep: dpselect.engines.postgres_encodings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

import dpselect
from dpselect import Table
from dpselect.engines.postgres_encodings import CODECS, every_character, pattern
from dpselect.errors import InvalidParameter
from tests.engines.asking import asked
from tests.servers.postgres import Server

ALPHABETS = {
    "LATIN1": "zäöüßéñþÿ",
    "WIN1252": "z€äœ‰ßÿ",
    "EUC_JP": "z茶麺①㈱\uff5e\uff0dｱ丂",
    "EUC_KR": "z차국수",
    "KOI8R": "zжщюя",
    "UTF8": "zä茶🍱",
    "SQL_ASCII": "zä茶🍱",
}
# Bytes that are valid in the encoding, and stand for nothing that the server could convert.
MEANINGLESS = {"WIN1252": b"\x81", "EUC_JP": b"\xa9\xa9", "EUC_KR": b"\xc9\xa1", "SQL_ASCII": b"\xff"}


@contextmanager
def database(server: Server, encoding: str) -> Iterator[str]:
    name = sql.Identifier("encoded")
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {} LOCALE 'C'").format(name, encoding)
        )
        try:
            yield server.url("encoded")
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def filled(url: str, rows: list[tuple[str, str]]) -> None:
    with psycopg.connect(url, autocommit=True, client_encoding="utf8") as connection:
        connection.execute("CREATE TABLE votes (who text, dish text)")
        connection.cursor().executemany("INSERT INTO votes VALUES (%s, %s)", rows)


@pytest.mark.parametrize("encoding", ALPHABETS)
def test_every_encoding_keeps_the_rows_that_all_engines_keep(postgres_server: Server, encoding: str) -> None:
    letters = ALPHABETS[encoding]
    rows = [(f"{one}{other}", dish) for one in letters for other in letters for dish in letters[:3]]
    same = pa.table({"who": [who for who, _ in rows], "dish": [dish for _, dish in rows]})
    problem = dpselect.plurality(candidate="dish", candidates=list(letters))
    with database(postgres_server, encoding) as url:
        filled(url, rows)
        scores = asked(problem, Table(url, table="votes", unit="who"))
    assert scores == asked(problem, Table(same, unit="who"))
    assert sum(scores) == len(letters) ** 2


@pytest.mark.parametrize("encoding", MEANINGLESS)
@pytest.mark.parametrize("column", ["who", "dish"])
def test_c5_bytes_that_stand_for_no_character_drop_their_row_and_no_other(
    postgres_server: Server, encoding: str, column: str
) -> None:
    rows = [(f"person {number}", "pie") for number in range(9)]
    problem = dpselect.plurality(candidate="dish", candidates=["pie", "tea"])
    other = {"who": "dish", "dish": "who"}[column]
    with database(postgres_server, encoding) as url:
        filled(url, rows)
        with psycopg.connect(url, autocommit=True, client_encoding="utf8") as connection:
            connection.execute(
                sql.SQL("INSERT INTO votes ({}, {}) VALUES ('tea', convert_from(%s, %s))").format(
                    sql.Identifier(other), sql.Identifier(column)
                ),
                [MEANINGLESS[encoding], encoding],
            )
        scores = asked(problem, Table(url, table="votes", unit="who"))
    # Bytes of an unknown encoding are a person like any other.
    assert scores == [9, int(encoding == "SQL_ASCII" and column == "who")]


@pytest.mark.parametrize(("encoding", "missing"), [("LATIN1", "€"), ("WIN1252", "茶"), ("EUC_JP", "é🍱")])
def test_a_candidate_without_a_form_in_the_encoding_is_refused_before_the_charge(
    postgres_server: Server, encoding: str, missing: str, tmp_path: Path
) -> None:
    ledger = dpselect.Ledger.create(tmp_path / "votes.ledger", budget=dpselect.PureDP(1))
    letters = list(ALPHABETS[encoding])
    with database(postgres_server, encoding) as url:
        filled(url, [("1", letters[1])])
        table = Table(url, table="votes", unit="who")
        asked(dpselect.plurality(candidate="dish", candidates=letters), table)
        problem = dpselect.plurality(candidate="dish", candidates=[*letters, missing])
        with pytest.raises(InvalidParameter, match="1 of them have no form") as caught:
            dpselect.select(problem, table, epsilon=1, ledger=ledger)
        assert missing not in str(caught.value)
        assert [*ledger.entries()] == []


def test_text_in_an_unknown_encoding_is_refused_before_the_charge(postgres_server: Server) -> None:
    with database(postgres_server, "EUC_TW") as url:
        filled(url, [("1", "pie")])
        table = Table(url, table="votes", unit=None)
        with pytest.raises(InvalidParameter, match="must hold text in an encoding that we know; got EUC_TW"):
            asked(dpselect.plurality(candidate="dish", candidates=["pie"]), table)


def test_the_characters_are_those_that_the_server_converts(postgres_server: Server) -> None:
    attempt = """CREATE FUNCTION pg_temp.converts(given bytea, encoding name) RETURNS bool LANGUAGE plpgsql
    AS $$ BEGIN PERFORM convert(given, encoding, 'UTF8'); RETURN true;
    EXCEPTION WHEN OTHERS THEN RETURN false; END $$"""
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(attempt)
        for encoding in CODECS:
            ((text,),) = connection.execute(
                "SELECT convert(%s, %s, 'UTF8')", [every_character(encoding), encoding]
            )
            connection.execute("SELECT convert(%s, 'UTF8', %s)", [text, encoding])
            wide = encoding.startswith("EUC")
            others = [bytes([byte]) for byte in range(1, 256) if not wide or byte < 128]
            high = range(0xA1, 0xFF)
            others += [bytes([one, two]) for one in high for two in high] if wide else []
            others += (
                [bytes([0x8F, one, two]) for one in high for two in high] if encoding == "EUC_JP" else []
            )
            known = connection.execute(
                "SELECT count(*) FROM unnest(%s::bytea[]) AS code WHERE pg_temp.converts(code, %s)",
                [others, encoding],
            ).fetchall()
            half_wide = 63 if encoding == "EUC_JP" else 0
            assert known == [(len(text.decode()) - half_wide,)], encoding
            assert pattern(encoding).startswith(b"^[\x01-")
