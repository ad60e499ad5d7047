"""F7: a DuckDB database that crashes its reader, or keeps it busy, is refused in a sentence; we live on."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpselect import Ledger, PureDP, Table, approval_voting, select
from dpselect.engines import database_files
from dpselect.engines.duckdb import DuckDB
from dpselect.engines.protocol import Counts, CountsRequest
from dpselect.errors import InvalidParameter, Shortage, TableUnreadable
from tests.engines.asking import asked
from tests.privacy.leaks import leaks

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="run it on Linux: only there children are listed"
)
DISH = approval_voting(candidate="dish", candidates=["pie", "soup"])
ENDLESS = (
    "SELECT count(*)::VARCHAR AS voter, 'pie' AS dish "
    "FROM range(10000000000) a, range(1000) b WHERE a.range % 7 = b.range"
)
SLEEPS = "import time\ntime.sleep(600)\n"
DIES = "import os\nos.kill(os.getpid(), 11)\n"
SENDS_A_CLASS = """
import os, pickle, sys
class Trap:
    def __reduce__(self):
        return os.system, ("touch trapped",)
from multiprocessing.connection import Connection
with Connection(int(sys.argv[1])) as parent:
    parent.recv()
    parent.send(([(Trap(),)], None))
    parent.recv()
"""


def readers(parent: int | str = "self") -> list[int]:
    """List the processes that read databases for a process."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    try:
        children = [child for task in tasks for child in task.read_text(encoding="ascii").split()]
        return [int(child) for child in children if b"database_process.py" in command(child)]
    except OSError:  # it ended meanwhile
        return []


def command(process: str) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE votes AS SELECT 8675309 + i AS voter, 'pie' AS dish FROM range(3) t(i)"
        )
        connection.execute(f"CREATE VIEW endless AS {ENDLESS}")
    return tmp_path / "rows.duckdb"


def release(database: Path, table: str = "votes") -> Any:
    with Ledger.create(database.parent / "a.ledger", budget=PureDP(1)) as ledger:
        try:
            return select(DISH, Table(database, table=table, unit="voter"), epsilon=1, ledger=ledger)
        finally:
            release.spent = ledger.spent  # type: ignore[attr-defined]


@pytest.mark.parametrize("script", [SLEEPS, DIES, SENDS_A_CLASS, "raise ValueError"])
def test_f7_a_reader_that_hangs_dies_or_lies_while_it_opens_is_refused_before_the_charge(
    script: str, database: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reader = database.parent / "database_process.py"
    reader.write_text(script, encoding="utf-8")
    monkeypatch.setattr(database_files, "READER", reader)
    monkeypatch.setattr(database_files, "OPENING_SECONDS", 2.0)
    monkeypatch.chdir(database.parent)
    with pytest.raises(InvalidParameter, match="can be opened for reading; 'rows"):
        release(database)
    assert release.spent == PureDP(0)  # type: ignore[attr-defined]
    assert readers() == []
    assert not (database.parent / "trapped").exists()
    assert capfd.readouterr() == ("", "")


def test_f7_a_query_without_an_end_is_ended_and_stays_charged(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_files, "OPENING_SECONDS", 5.0)
    monkeypatch.setattr(database_files, "SECONDS_PER_BYTE", 0.0)
    begun = time.monotonic()
    with pytest.raises(TableUnreadable) as caught:
        release(database, "endless")
    assert 4 < time.monotonic() - begun < 60
    assert release.spent == PureDP(1)  # type: ignore[attr-defined]
    assert leaks(caught.value) == []
    assert readers() == []


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_f7_a_crash_while_rows_are_read_is_a_table_that_cannot_be_read(
    number: signal.Signals, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Callable[..., Counts] = DuckDB.counts

    def crashing(engine: DuckDB, request: CountsRequest, salt: bytes) -> Counts:
        for child in readers():
            os.kill(child, number)
        return counts(engine, request, salt)

    monkeypatch.setattr(DuckDB, "counts", crashing)
    with pytest.raises(TableUnreadable):
        release(database)
    assert release.spent == PureDP(1)  # type: ignore[attr-defined]
    assert readers() == []


def test_the_reader_is_bounded_and_writes_no_core(database: Path) -> None:
    with Table(database, table="votes", unit="voter").open():
        (child,) = readers()
        limits = {
            what: resource.prlimit(child, what)[0] for what in (resource.RLIMIT_CORE, resource.RLIMIT_AS)
        }
    assert limits[resource.RLIMIT_CORE] == 0
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory < limits[resource.RLIMIT_AS] <= 2 * memory + (4 << 30)


ASKS = """
import sys
from dpselect import Table, approval_voting
from tests.engines.asking import asked
problem = approval_voting(candidate="dish", candidates=["pie", "soup"])
asked(problem, Table(sys.argv[1], table="endless", unit="voter"))
"""


def eventually(condition: Callable[[], Any]) -> Any:
    for _ in range(300):
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError


def test_the_reader_ends_when_its_parent_is_killed_in_the_middle_of_a_query(database: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ASKS, str(database)], stderr=subprocess.DEVNULL) as parent:
        (child,) = eventually(lambda: readers(parent.pid))
        stat = Path(f"/proc/{child}/stat")
        eventually(
            lambda: int(stat.read_text(encoding="ascii").rsplit(")", 1)[1].split()[11]) > 100
        )  # it works
        parent.kill()
    eventually(lambda: not stat.exists() or ") Z " in stat.read_text(encoding="ascii"))


def test_values_of_every_number_come_back_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "n.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE n AS SELECT 1.25::DECIMAL(38,2) AS d, 0.1::DOUBLE AS f, 'inf'::FLOAT AS s, "
            "1000000000000000000000000000000::HUGEINT AS h, '7e2' AS t, uuid() AS u"
        )
    with database_files.DatabaseProcess(str(path), {}) as process:
        (row,) = process.execute("SELECT d, f, s, h, t, u::VARCHAR FROM n").fetchall()
    assert row[:5] == (Decimal("1.25"), 0.1, float("inf"), 10**30, "7e2")
    assert asked(
        approval_voting(candidate="d", candidates=[Decimal("1.25"), 2]), Table(path, table="n", unit="u")
    ) == [1, 0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("OutOfMemoryException", Shortage),
        ("MemoryError", Shortage),
        ("eval", InvalidParameter),
        ("X", InvalidParameter),
    ],
)
def test_of_what_failed_over_there_only_the_kind_is_kept(
    name: str, kind: type[Exception], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = database.parent / "database_process.py"
    reader.write_text(
        "import sys\nfrom multiprocessing.connection import Connection\n"
        "with Connection(int(sys.argv[1])) as p:\n"
        f"    p.recv()\n    p.send((None, ({name!r}, '31337')))\n    p.recv()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(database_files, "READER", reader)
    with pytest.raises(kind) as caught, Table(database, table="votes", unit="voter").open():
        pass
    assert leaks(caught.value) == []
