"""What is particular to a ledger on a PostgreSQL server."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest

from dpselect import BudgetExhausted, Ledger, LedgerDamaged, LedgerUnavailable, PureDP
from dpselect.errors import InvalidParameter
from tests.ledger.places import Place
from tests.servers.postgres import Server

OTHERS = "pid <> pg_backend_pid() AND backend_type = 'client backend'"


def test_a_server_that_is_not_there_is_named_without_the_password(postgres_server: Server) -> None:
    url = f"postgresql://ann:secret@127.0.0.1:{postgres_server.port}/no_such_database"
    for act in (Ledger.open, Ledger.create):
        with pytest.raises(LedgerUnavailable, match="could not be used: there is no connection") as refused:
            act(url)
        assert "secret" not in str(refused.value)
        assert f"127.0.0.1:{postgres_server.port}/no_such_database" in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://[", "postgresql://host/db?no_such_option=secret"])
def test_a_url_that_cannot_be_read_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidParameter, match="must be readable") as refused:
        Ledger.open(url)
    assert "secret" not in str(refused.value)


WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from dpselect import Ledger
try:
    Ledger.open("postgresql://host/database")
except ImportError as problem:
    print(type(problem).__name__, problem)
"""


def test_without_psycopg_a_server_is_refused_with_the_way_out() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PSYCOPG], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("MissingExtra ")
    assert "pip install 'dpselect[postgres]'" in done.stdout


def test_a_ledger_in_a_file_loads_no_psycopg(tmp_path: Path) -> None:
    script = (
        "import sys; from dpselect import Ledger; Ledger.create(sys.argv[1]); print('psycopg' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "a.ledger")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_user_who_may_only_look_cannot_charge(server_place: Place, postgres_server: Server) -> None:
    with Ledger.create(server_place.url) as ledger:
        ledger.charge(PureDP("1/4"), reason="a")
    schema = server_place.url.rpartition("%3D")[2]
    server_place.execute(
        "CREATE ROLE looker LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO looker",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO looker",
    )
    looking = Ledger.open(server_place.url.replace("tester@", "looker@"))
    assert looking.spent == PureDP("1/4")
    with pytest.raises(LedgerUnavailable, match="PostgreSQL says 42501"):
        looking.charge(PureDP("1/4"), reason="b")
    assert ledger.verify() == 1
    assert postgres_server.port


def test_the_rights_that_the_guide_names_are_enough_to_charge_and_store(server_place: Place) -> None:
    Ledger.create(server_place.url).close()
    schema = server_place.url.rpartition("%3D")[2]
    server_place.execute(
        "CREATE ROLE analyst LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO analyst",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO analyst",
        "GRANT INSERT ON dpselect_entries, dpselect_answers TO analyst",
        "GRANT UPDATE ON dpselect_heads TO analyst",
    )
    ledger = Ledger.open(server_place.url.replace("tester@", "analyst@"))
    ledger.charge(PureDP("1/4"), reason="a", request_id="r1")
    ledger.store("r1", "tea")
    assert (ledger.answer("r1"), ledger.verify()) == ("tea", 1)


def test_a_connection_that_died_while_idle_is_replaced(server_place: Place) -> None:
    ledger = Ledger.create(server_place.url)
    for number in range(1, 4):
        server_place.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OTHERS}")
        assert ledger.charge(PureDP("1/10"), reason="a").number == number
        server_place.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OTHERS}")
        assert ledger.spent == PureDP("1/10") * number


def blocked_charge(ledger: Ledger, url: str, then: str) -> list[BaseException]:
    """Charge while another writer holds the lock; run a statement as soon as the charge waits for it."""
    errors: list[BaseException] = []

    def charge() -> None:
        try:
            ledger.charge(PureDP("1/10"), reason="a")
        except LedgerUnavailable as problem:
            errors.append(problem)

    with psycopg.connect(url) as other:
        other.execute("SELECT 1 FROM dpselect_heads FOR UPDATE")
        thread = threading.Thread(target=charge)
        thread.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        with psycopg.connect(url, autocommit=True) as watcher:
            while thread.is_alive() and watcher.execute(waiting).fetchall() == [(0,)]:
                time.sleep(0.01)
            watcher.execute(then.encode())
        thread.join()
    return errors


def test_a_connection_that_dies_in_the_middle_of_a_charge_charges_nothing(server_place: Place) -> None:
    ledger = Ledger.create(server_place.url)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    (problem,) = blocked_charge(ledger, server_place.url, kill)
    assert "Release nothing" in str(problem)
    assert (ledger.spent, ledger.verify()) == (PureDP(0), 0)
    assert ledger.charge(PureDP("1/10"), reason="a").number == 1


def test_others_who_never_finish_are_waited_for_and_then_named(
    server_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpselect.ledger.postgres_connection.WRITER_TIMEOUT_SECONDS", 1)
    ledger = Ledger.create(server_place.url)
    (problem,) = blocked_charge(ledger, server_place.url, "SELECT 1")
    assert "PostgreSQL says 55P03" in str(problem)
    assert ledger.charge(PureDP("1/10"), reason="a").number == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpselect_heads SET dpselect_entries = 0",
        "UPDATE dpselect_heads SET dpselect_entries = 3, dpselect_answers = 1",
        "UPDATE dpselect_heads SET dpselect_entries = 1, dpselect_answers = 2",
        "DELETE FROM dpselect_heads",
        "TRUNCATE dpselect_heads",
        "TRUNCATE dpselect_entries CASCADE",
        "TRUNCATE dpselect_answers",
        "TRUNCATE dpselect_header",
        "INSERT INTO dpselect_heads VALUES (7, 7)",
    ],
)
def test_heads_only_count_on_and_nothing_is_emptied(server_place: Place, statement: str) -> None:
    ledger = Ledger.create(server_place.url)
    for reason in ("a", "b"):
        ledger.charge(PureDP("1/4"), reason=reason)
    with pytest.raises(psycopg.Error, match=r"only ever added to|unique constraint"):
        server_place.execute(statement)
    assert ledger.verify() == 2


def test_a_head_that_was_moved_stops_the_ledger(server_place: Place) -> None:
    ledger = Ledger.create(server_place.url)
    server_place.execute("UPDATE dpselect_heads SET dpselect_entries = 1")
    with pytest.raises(LedgerDamaged):
        ledger.charge(PureDP("1/4"), reason="a")
    with pytest.raises(LedgerDamaged):
        ledger.verify()


def test_e11_entries_cut_off_together_with_their_head_are_missed(server_place: Place) -> None:
    ledger = Ledger.create(server_place.url)
    for number in range(4):
        ledger.charge(PureDP("1/10"), reason=f"reason {number}")
    server_place.force(
        "DELETE FROM dpselect_entries WHERE number > 2",
        "ALTER TABLE dpselect_heads DISABLE TRIGGER ALL",
        "UPDATE dpselect_heads SET dpselect_entries = 2",
        "ALTER TABLE dpselect_heads ENABLE TRIGGER ALL",
    )
    for use in (ledger.verify, lambda: Ledger.open(server_place.url), lambda: ledger.spent):
        with pytest.raises(LedgerDamaged) as found:
            use()
        assert found.value.entry == 3


def test_a_user_who_never_met_the_ledger_takes_it_as_it_is_and_remembers(
    server_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.create(server_place.url) as ledger:
        ledger.charge(PureDP("1/4"), reason="a")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    assert Ledger.open(server_place.url).spent == PureDP("1/4")
    assert len(list((tmp_path / "another user/dpselect/anchors").iterdir())) == 1


def test_an_anchor_that_was_chosen_must_be_there(server_place: Place, tmp_path: Path) -> None:
    with Ledger.create(server_place.url, anchor=tmp_path / "anchor") as ledger:
        ledger.charge(PureDP("1/4"), reason="a")
    assert Ledger.open(server_place.url).verify() == 1
    (tmp_path / "anchor").unlink()
    with pytest.raises(LedgerDamaged, match=r"call Ledger\.vouch"):
        Ledger.open(server_place.url)
    assert Ledger.vouch(server_place.url).verify() == 1


def test_of_those_who_make_a_ledger_at_the_same_time_one_does(server_place: Place) -> None:
    made: list[object] = []

    def make() -> None:
        try:
            made.append(Ledger.create(server_place.url).budget)
        except InvalidParameter:
            made.append("there is one")

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, made)) == ["epsilon 1", *["there is one"] * 3]
    ledger = Ledger.open(server_place.url)
    ledger.charge(PureDP(1), reason="all")
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP(1), reason="more")


@pytest.mark.parametrize(
    "altered",
    [
        "number TYPE text USING number::text",
        "number TYPE numeric",
        """digest TYPE json USING '{"a": [1]}'::json""",
        """reason TYPE json USING '{"a": [1]}'::json""",
    ],
)
def test_e10_columns_of_another_type_are_damage(server_place: Place, altered: str) -> None:
    with Ledger.create(server_place.url) as ledger:
        for number in (1, 2, 3):
            ledger.charge(PureDP("1/10"), reason="a", request_id=f"r{number}")
        server_place.force(
            "ALTER TABLE dpselect_answers DROP CONSTRAINT dpselect_answers_entry_fkey",
            f"ALTER TABLE dpselect_entries ALTER {altered}",
        )
        with pytest.raises(LedgerDamaged):
            ledger.charge(PureDP("1/10"), reason="a")
        with pytest.raises(LedgerDamaged):
            ledger.store("r1", "answer")


SHADOWS = """
CREATE SCHEMA evil;
CREATE FUNCTION evil.never(bigint, bigint) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION evil.never(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.never);
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.never);
CREATE FUNCTION evil.to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT NULL::regclass';
CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'on' $$;
CREATE TABLE evil.pg_trigger AS TABLE pg_catalog.pg_trigger WITH NO DATA;
"""


def test_e8_what_others_create_on_the_search_path_is_not_taken_for_the_servers(server_place: Place) -> None:
    with Ledger.create(server_place.url, budget=PureDP(1)) as ledger:
        ledger.charge(PureDP("1/2"), reason="tea", request_id="one")
    ((schema,),) = server_place.execute("SELECT current_schema()::text")
    server_place.execute("DROP SCHEMA IF EXISTS evil CASCADE", SHADOWS)
    with Ledger.open(server_place.url.replace(schema, f"evil,{schema},pg_catalog")) as ledger:
        assert ledger.spent == PureDP("1/2")
        with pytest.raises(BudgetExhausted):
            ledger.charge(PureDP("3/4"), reason="pie")
        ledger.charge(PureDP("1/4"), reason="pie")
        assert ledger.verify() == 2


def test_e10_a_loader_that_a_program_registered_changes_nothing_that_a_ledger_reads(
    server_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Misreading(psycopg.adapt.Loader):
        def load(self, data: object) -> str:
            del data
            return "0"

    with Ledger.create(server_place.url, budget=PureDP(1)) as ledger:
        ledger.charge(PureDP("1/2"), reason="tea")
    monkeypatch.setattr(psycopg.adapters, "_loaders", [each.copy() for each in psycopg.adapters._loaders])  # noqa: SLF001 - to put it back
    for name in ("text", "int8", "name"):
        psycopg.adapters.register_loader(name, Misreading)
    with Ledger.open(server_place.url) as ledger:
        assert ledger.spent == PureDP("1/2")
