"""Where scores are computed: each engine is imported by its own module, when a table first needs it."""

from dpselect.engines.protocol import Counts, CountsRequest, Engine
from dpselect.engines.table import Table

__all__ = ["Counts", "CountsRequest", "Engine", "Table"]
