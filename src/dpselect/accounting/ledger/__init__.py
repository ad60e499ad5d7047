"""The ledger: what was spent is known exactly, whatever crashes."""

from dpselect.accounting.ledger.chain import Entry as Entry
from dpselect.accounting.ledger.ledger import Ledger as Ledger
