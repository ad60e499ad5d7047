"""What only the owner of the data may see: whether a question and a table fit.

The rest of the library shows no data. This folder does, so only ``dpselect.check`` and the command ``check``
lead here.

>>> import pyarrow
>>> from dpselect import Table, approval_voting
>>> table = Table(pyarrow.table({"voter": [1, 2], "dish": ["tea", "cocoa"]}), unit="voter")
>>> check(approval_voting(candidate="dish", candidates=["tea", "soup"]), table, owner=True).counted
1
"""

from dpselect.owner.check import ColumnCheck as ColumnCheck
from dpselect.owner.check import TableCheck as TableCheck
from dpselect.owner.check import check as check
