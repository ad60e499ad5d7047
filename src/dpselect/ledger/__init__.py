"""The ledger: a privacy budget on disk. What was spent is known exactly, whatever crashes.

ledger                   the object that users hold: create, open, charge, accounts, store, answer, verify
account                  what is shown of an account
book                     a log and its anchor, held together at every read and write
balance                  what entries add up to, and which act may follow: accounts, reserves, with a proof
budget                   which charge a budget affords: exact sums and one comparison for each, with a proof
export                   lines that prove themselves, and their verification
upgrade                  copies a ledger of an older format
fields                   what a field of a stored record may be: texts, times, numbers
entries                  the records, their digests, and the law of the stored format
verified_log             reads and writes records; believes none before its digest is checked
anchor, anchor_places    a small file outside the ledger that shows when entries are missing; where it lies
damage                   the sentences about damage
database                 the tables, the queries, and what a database must be able to do
sqlite, sqlite_schema, sqlite_files    the database in a file
postgres, postgres_connection    the database on a server
fork_safe_connection     one connection, however many threads and forks use it
locations                which database a path or a URL means

>>> import tempfile
>>> from dpselect import PureDP
>>> with tempfile.TemporaryDirectory() as folder, Ledger.create(f"{folder}/food.ledger") as ledger:
...     entry = ledger.charge(PureDP("1/4"), reason="favourite dish")
...     ledger.affords(PureDP("1/4")), ledger.affords(PureDP(5))
(True, False)
"""

from dpselect.ledger.account import Account as Account
from dpselect.ledger.entries import Entry as Entry
from dpselect.ledger.export import verify_export as verify_export
from dpselect.ledger.ledger import Ledger as Ledger
from dpselect.ledger.upgrade import upgrade as upgrade
