import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.ledger.places import FileCabinet, Place, ServerCabinet
from tests.servers.postgres import Server, postgres_server

__all__ = ["postgres_server"]

_schemas = itertools.count(1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the anchors of servers' ledgers out of the user's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def file_place(tmp_path: Path) -> Place:
    return FileCabinet(tmp_path / "a.ledger")


@pytest.fixture
def server_places(postgres_server: Server) -> Callable[[], Place]:
    """Make places on one server, each a new schema of its own."""
    return partial(new_schema, postgres_server)


def new_schema(server: Server) -> Place:
    schema = f"s{next(_schemas)}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    options = quote(f"-csearch_path={schema}")
    return ServerCabinet(f"{server.url()}?options={options}")


@pytest.fixture
def server_place(server_places: Callable[[], Place]) -> Place:
    """A new schema of its own."""
    return server_places()


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest) -> Place:
    """Where the ledger of a test will be: once in a file, once on a server."""
    found: Place = request.getfixturevalue(f"{request.param}_place")
    return found
