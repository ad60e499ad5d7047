import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def unmeasured() -> Iterator[None]:
    """Keep coverage out of a long walk, which would take four times as long; shorter ones are measured."""
    measuring = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(measuring)
