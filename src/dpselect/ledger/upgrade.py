"""Copy a ledger of an older format into a new file; both are verified.

Format 1 does not say between which neighbours its losses are. The reasons of questions say it; charges by
hand do not, so the curator is asked. Losses of two kinds add up to no bound: they are refused.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dpselect.errors import InvalidParameter, LedgerDamaged
from dpselect.ledger.anchor import anchor_exists, sync_folder
from dpselect.ledger.anchor_places import AnchorPlaces
from dpselect.ledger.database import FORMAT_1, PRESENT, all_answers, header_rows
from dpselect.ledger.entries import Entry, Header, read_header, record_digest
from dpselect.ledger.ledger import Ledger
from dpselect.ledger.locations import Place, database_at, local_file
from dpselect.ledger.verified_log import VerifiedLog
from dpselect.privacy.neighbours import Neighbours, metric_of

_RELATION = re.compile(r", (add_remove|change_one), question [0-9a-f]{64}")
UNFINISHED = ".unfinished"
"""A copy has this ending until it is whole and verified."""


def upgrade(
    old: Place, new: Place, *, neighbours: Neighbours | None = None, anchor: Place | None = None
) -> Ledger:
    """Copy an old ledger into a new file, verify both, and give the new one.

    ``neighbours`` is needed where the entries do not say it. ``anchor`` says where the anchor of the old one
    is, if it was moved. From then on use the new one alone: two ledgers about the same people do not add up.
    """
    if neighbours is not None:
        metric_of(neighbours)
    target = local_file(new, "the new ledger")
    with _alone_in(target.parent):
        for taken in (target, Path(f"{target}.anchor")):
            if taken.exists():
                raise InvalidParameter(
                    f"the new ledger must be a new file; {str(taken)!r} is there. Name another."
                )
        log = _old_log(old, None if anchor is None else local_file(anchor, "the anchor"))
        unfinished = target.with_name(f"{target.name}{UNFINISHED}")
        try:
            header = replace(log.header, neighbours=_relation(log, neighbours))
            _remove(unfinished)
            _copy(log, header, unfinished)
            # The anchor goes first: alone it lets nothing be charged.
            Path(f"{unfinished}.anchor").rename(f"{target}.anchor")
            unfinished.rename(target)
            sync_folder(target.parent)
        except BaseException:
            _remove(unfinished)
            raise
        finally:
            log.database.close()
    return Ledger.open(target)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait while another copy is made in a folder: then an unfinished one is what a killed process left."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove(unfinished: Path) -> None:
    for ending in ("", ".anchor", "-wal", "-shm"):
        Path(f"{unfinished}{ending}").unlink(missing_ok=True)


def _old_log(old: Place, anchor: Path | None) -> VerifiedLog:
    """Read a ledger of an older layout, and verify all of it, with its anchor."""
    database = database_at(old)
    if not database.exists():
        raise InvalidParameter(f"an old ledger must be there; there is none at {database.place!r}.")
    database.check()
    if database.layout == PRESENT:
        raise InvalidParameter(f"{database.place!r} is of the present format. Use it as it is.")
    rows = header_rows(database)
    header = _header_of_format_1(rows) if database.layout == FORMAT_1 else read_header(rows)
    log = VerifiedLog(database, header)
    anchors = AnchorPlaces.of(log, anchor)
    if not anchor_exists(anchors.main):
        raise LedgerDamaged(
            f"the anchor {str(anchors.main)!r} is gone; without it nobody knows whether entries are missing. "
            "Put it back, or say where it is: anchor=. If it is lost, count the whole budget as spent."
        )
    log.verify(*anchors.states())
    return log


def _header_of_format_1(rows: list[tuple[object, ...]]) -> Header:
    """Read a header without neighbours: as one of format 2, once its own digest was checked."""
    if len(rows) == 1:
        version, *columns, written = rows[0]
        named = [*columns[:2], *columns[3:]]
        if version == 1 and written == record_digest("header", "", [version, *named]):
            present = (2, *columns[:2], "add_remove", *columns[3:])
            header = read_header([(*present, record_digest("header", "", present))])
            return replace(header, digest=str(written))
    raise LedgerDamaged("the header of the ledger is damaged; it cannot be copied.", entry=0)


def _relation(log: VerifiedLog, given: Neighbours | None) -> Neighbours:
    """Find the one kind of neighbours of all charges, or refuse."""
    if log.database.layout != FORMAT_1:
        said: set[str] = {log.header.neighbours}
        silent = False
    else:
        found = [_RELATION.search(entry.reason) for entry in log.entries()]
        said, silent = {each[1] for each in found if each}, None in found or not found
    if len(said) > 1:
        raise InvalidParameter(
            "the charges of a ledger must be between neighbours of one kind; this one has both, so its sum "
            "bounds nothing. Nothing of the budget is left: make a new ledger for new people."
        )
    if silent and given is None:
        what = "some charges do not say" if log.known.end[0] else "there is no charge, which would say"
        raise InvalidParameter(
            f"neighbours must be given: {what} between which neighbours losses are. Write "
            f"--neighbours {min(said, default='add_remove')} if all of them are."
        )
    if given is not None and said not in (set(), {given}):
        raise InvalidParameter.must_be("neighbours", f"what its charges say, {min(said)!r}", got=given)
    return "change_one" if (given or min(said)) == "change_one" else "add_remove"


def _copy(log: VerifiedLog, header: Header, place: Path) -> None:
    """Make every charge and every answer again, at its time, and compare the ends."""
    times = [header.created]
    with Ledger.create(
        place,
        budget=header.budget,
        neighbours=header.neighbours,
        dataset=header.dataset,
        unit=header.unit,
        clock=lambda: times[0],
    ) as ledger:
        requests: dict[int, str] = {}
        for entry in _charged(log, requests):
            times[0] = entry.time
            ledger.charge(entry.loss, reason=entry.reason, request_id=entry.request_id)
        for _, number, answer, *_ in all_answers(log.database):
            ledger.store(requests[number], answer)
        last = log.known.balance.spent
        if (ledger.verify(), ledger.spent.parts()) != (log.known.end[0], last):
            raise LedgerDamaged("the copy of the ledger is not what was copied.")


def _charged(log: VerifiedLog, requests: dict[int, str]) -> Iterator[Entry]:
    for entry in log.entries():
        if entry.request_id is not None:
            requests[entry.number] = entry.request_id
        yield entry
