"""The ledger: what was spent is known exactly, whatever crashes."""

from dpselect.ledger.entries import Entry as Entry
from dpselect.ledger.ledger import Ledger as Ledger
