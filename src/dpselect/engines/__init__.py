"""Where scores are computed: each engine is imported by its own module, when a table first needs it.

>>> import pyarrow
>>> with Table(pyarrow.table({"voter": [1, 2], "dish": ["tea", "soup"]}), unit="voter").open() as engine:
...     [(column.name, column.kind) for column in engine.schema.columns]
[('voter', 'integer'), ('dish', 'text')]
"""

from dpselect.engines.protocol import Counts, CountsRequest, Engine
from dpselect.engines.table import Table

__all__ = ["Counts", "CountsRequest", "Engine", "Table"]
