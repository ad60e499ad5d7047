"""One studio for the tests that change little of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.studio.running import Running, furnish, running, write_meals


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio with one data set, in which ada has a share."""
    folder = tmp_path_factory.mktemp("studio").resolve()
    with running(folder) as run:
        furnish(run, write_meals(folder / "meals.csv"))
        yield run
