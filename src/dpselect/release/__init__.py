"""Price, pay, look, draw: the only place where data, mechanism and ledger meet.

Other candidates have no chance here; the price is what is paid all the same:

>>> import warnings
>>> from dpselect import Scores, custom
>>> dish = custom(candidates=["tea", "soup"], sensitivity=1, monotonic=True)
>>> with prepare(dish, Scores([31_000, 17]), epsilon="1/2") as question, warnings.catch_warnings():
...     warnings.simplefilter("ignore")  # no ledger is charged in this example
...     release = question.release()
>>> release.label, release.price
('tea', PureDP('1/2'))
"""

from dpselect.release.question import Question as Question
from dpselect.release.question import prepare as prepare
from dpselect.release.quote import Quote as Quote
from dpselect.release.result import Release as Release
from dpselect.release.summary import summary as summary
from dpselect.release.winners import select as select
from dpselect.release.winners import top_k as top_k
from dpselect.release.winners_of_groups import select_each as select_each
from dpselect.release.winners_of_groups import top_k_each as top_k_each
