import os

import pytest


@pytest.fixture(autouse=True)
def children_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep coverage out of the processes that these tests start: it loads modules, and takes its time."""
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch.delenv(name)
