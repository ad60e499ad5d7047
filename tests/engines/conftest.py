"""The servers that the engines are tested against: one of each for all tests of a process."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import spark
from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A local Spark session; the test is skipped where there is no Java."""
    # Hundreds of small queries: what is not compiled need not be compiled again for each of them.
    with spark.session(
        **{"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    ) as session:
        yield session
