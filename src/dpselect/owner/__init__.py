"""What only the owner of the data may see: whether a question and a table fit.

The rest of the library shows no data. This folder does, so only ``dpselect.check`` and the command ``check``
lead here.
"""

from dpselect.owner.check import ColumnCheck as ColumnCheck
from dpselect.owner.check import TableCheck as TableCheck
from dpselect.owner.check import check as check
