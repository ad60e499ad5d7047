"""Where scores are computed: each engine is imported when a table first needs it, and by nobody else."""

from dpselect.engines.protocol import Counts, CountsRequest, Engine
from dpselect.engines.table import Table

__all__ = ["Counts", "CountsRequest", "Engine", "Table"]
