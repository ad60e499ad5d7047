"""The servers that releases are tested with, and ledgers that keep to the folder of their test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpselect import PureDP
from tests.release.elections import Watched
from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a release leaves anywhere within the folder of its test."""
    for name in ("state", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Watched]:
    """A ledger with a budget of epsilon 1."""
    with Watched.create(tmp_path / "food.ledger", budget=PureDP(1)) as kept:
        yield kept
