"""Price, pay, look, draw: the only place where data, mechanism and ledger meet."""

from dpselect.release.acts import select as select
from dpselect.release.acts import top_k as top_k
from dpselect.release.result import Release as Release
