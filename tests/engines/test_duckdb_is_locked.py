"""DuckDB can read what it was given and nothing else: the probes of threat F5."""

import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dpselect import Table, approval_voting
from dpselect.engines.duckdb import BEFORE, FIRST, LAST, DuckDB
from dpselect.engines.protocol import Counts, CountsRequest
from tests.engines.asking import asked

DISH = approval_voting(candidate="dish", candidates=["pie", "soup"])


@pytest.fixture(params=["csv", "parquet", "frame", "database"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    rows = pa.table({"voter": ["1", "2"], "dish": ["pie", "soup"]})
    with duckdb.connect() as connection:
        connection.register("given", rows)
        connection.execute(f"COPY given TO '{tmp_path}/rows.csv'")
        connection.execute(f"COPY given TO '{tmp_path}/rows.parquet' (FORMAT parquet)")
        connection.execute(f"ATTACH '{tmp_path}/rows.duckdb' AS file; CREATE TABLE file.votes AS FROM given")
    (tmp_path / "secret.csv").write_text("password\n31337\n", encoding="utf-8")
    return {
        "csv": Table(tmp_path / "rows.csv", unit="voter"),
        "parquet": Table(tmp_path / "rows.parquet", unit="voter"),
        "frame": Table(rows, unit="voter"),
        "database": Table(tmp_path / "rows.duckdb", table="votes", unit="voter"),
    }[str(request.param)]


PROBES = {
    "SELECT * FROM read_csv('{folder}/secret.csv')": duckdb.PermissionException,
    "SELECT * FROM '{folder}/secret.csv'": duckdb.Error,
    "SELECT * FROM read_text('{folder}/secret.csv')": duckdb.PermissionException,
    "SELECT * FROM read_blob('/etc/passwd')": duckdb.PermissionException,
    "SELECT * FROM glob('{folder}/*')": duckdb.PermissionException,
    "SELECT * FROM sniff_csv('{folder}/secret.csv')": duckdb.PermissionException,
    "SELECT * FROM parquet_metadata('{folder}/secret.csv')": duckdb.PermissionException,
    "SELECT * FROM read_csv('https://example.org/x.csv')": duckdb.Error,
    "COPY (SELECT 1) TO '{folder}/out.csv'": duckdb.PermissionException,
    "ATTACH '{folder}/other.duckdb' AS other": duckdb.PermissionException,
    "EXPORT DATABASE '{folder}/dump'": duckdb.Error,
    "INSTALL httpfs": duckdb.Error,
    "LOAD httpfs": duckdb.Error,
    "SELECT * FROM a_python_variable": duckdb.CatalogException,
    "SET memory_limit = '100GB'": duckdb.InvalidInputException,
    "SET enable_external_access = true": duckdb.InvalidInputException,
    "SET allowed_paths = ['/etc/passwd']": duckdb.InvalidInputException,
    "RESET lock_configuration": duckdb.InvalidInputException,
    "PRAGMA threads = 9": duckdb.InvalidInputException,
}


def test_every_probe_is_denied(
    table: Table, tmp_path: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_python_variable = pa.table({"answer": [42]})
    counts, seen = DuckDB.counts, []

    def probed(engine: DuckDB, request: CountsRequest, salt: bytes) -> Counts:
        for probe, refusal in PROBES.items():
            with subtests.test(probe), pytest.raises(refusal):
                engine.connection.execute(probe.format(folder=tmp_path)).fetchall()
        seen.append(engine)
        return counts(engine, request, salt)

    monkeypatch.setattr(DuckDB, "counts", probed)
    assert asked(DISH, table) == [1, 1]
    assert len(seen) == 1
    del a_python_variable


def test_the_same_probes_succeed_where_nothing_is_locked(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("password\n31337\n", encoding="utf-8")
    a_python_variable = pa.table({"answer": [42]})
    connection = duckdb.connect()
    for probe in list(PROBES)[:3]:
        assert connection.execute(probe.format(folder=tmp_path)).fetchall()
    assert connection.execute("SELECT * FROM a_python_variable").fetchall() == [(42,)]
    del a_python_variable


def test_every_setting_is_one_that_this_duckdb_knows() -> None:
    known = {name for (name,) in duckdb.connect().execute("SELECT name FROM duckdb_settings()").fetchall()}
    ours = {setting.split()[1] for setting in (*FIRST, *LAST)} | set(BEFORE)
    assert ours | {"allowed_paths", "temp_directory"} <= known


def test_d13_no_optimizer_decides_by_statistics(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, seen = DuckDB.counts, []

    def asking(engine: DuckDB, request: CountsRequest, salt: bytes) -> Counts:
        seen.extend(engine.connection.execute("SELECT current_setting('disabled_optimizers')").fetchall())
        return counts(engine, request, salt)

    monkeypatch.setattr(DuckDB, "counts", asking)
    assert asked(DISH, table) == [1, 1]
    ((disabled,),) = seen
    off = {"statistics_propagation", "filter_pushdown", "join_filter_pushdown", "row_group_pruner"}
    assert set(disabled.split(",")) >= off


def test_the_private_directory_goes_with_the_connection(
    table: Table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    private = tmp_path / "temp"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    counts = DuckDB.counts
    modes: list[int] = []

    def looked_at(engine: DuckDB, request: CountsRequest, salt: bytes) -> Counts:
        modes.extend(made.stat().st_mode & 0o077 for made in private.iterdir())
        return counts(engine, request, salt)

    monkeypatch.setattr(DuckDB, "counts", looked_at)
    assert asked(DISH, table) == [1, 1]
    assert modes == [0]
    assert list(private.iterdir()) == []


def test_a_view_in_a_database_cannot_reach_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("voter,dish\n1,pie\n", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "trap.duckdb")) as connection:
        connection.read_csv(str(tmp_path / "secret.csv")).create_view("votes")
    with (
        pytest.raises(ValueError, match="source must be readable by DuckDB"),
        Table(tmp_path / "trap.duckdb", table="votes", unit="voter").open(),
    ):
        pass
