"""Price, pay, look, draw: the only place where data, mechanism and ledger meet."""

from dpselect.release.question import Question as Question
from dpselect.release.question import prepare as prepare
from dpselect.release.quote import Quote as Quote
from dpselect.release.result import Release as Release
from dpselect.release.winners import select as select
from dpselect.release.winners import top_k as top_k
