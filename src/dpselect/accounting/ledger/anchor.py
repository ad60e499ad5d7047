"""The anchor: how far a ledger has come, kept outside of it, so that an old copy or a cut one is found out.

One record of a fixed size, smaller than a disk sector, overwritten in place after each commit and without
waiting for the disk: after a crash it is as new as it was or older, never torn. It only moves forwards. A
ledger ahead of its anchor is healthy; one behind it has lost entries.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dpselect.accounting.ledger.chain import Mark
from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable

PATIENCE = 30.0
"""How long to wait for a lock, in seconds."""

_RECORD = re.compile(
    rb"dpselect anchor 1\n"
    rb"header ([0-9a-f]{64})\n"
    rb"entries ([0-9]{20}) ([0-9a-f]{64})\n"
    rb"answers ([0-9]{20}) ([0-9a-f]{64})\n"
)
_CHECK = re.compile(rb"check ([0-9a-f]{64})\n")
_LONGEST = 512


@dataclass(frozen=True)
class Anchored:
    """What an anchor says: which ledger, and how far its two chains had come."""

    header: str
    entries: Mark
    answers: Mark


def at_start(header: str) -> Anchored:
    """Give the anchor of a ledger without entries: both chains stand on the header."""
    return Anchored(header, Mark(0, header), Mark(0, header))


class AnchorFile:
    """An anchor that is open for reading and writing."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Take an open file."""
        self._path, self._descriptor = path, descriptor

    def read(self) -> Anchored:
        """Read it. A read that met a write is repeated under the lock."""
        found = _parsed(self._bytes())
        if found is None:
            with self._locked():
                return self._read_locked()
        return found

    def advance(self, *, entries: Mark | None = None, answers: Mark | None = None) -> None:
        """Move it forwards, never back. Another record at the same place means that there are two ledgers."""
        with self._locked():
            before = self._read_locked()
            after = replace(
                before,
                entries=_further(before.entries, entries, entry=entries and entries.number),
                answers=_further(before.answers, answers, entry=None),
            )
            if after != before:
                try:
                    os.pwrite(self._descriptor, _written(after), 0)
                except OSError as problem:
                    raise unavailable(self._path, "be written", problem) from None

    def _read_locked(self) -> Anchored:
        found = _parsed(self._bytes())
        if found is None:
            raise LedgerDamaged(
                f"the anchor {str(self._path)!r} is damaged; its ledger accepts no charge. Put back a whole "
                "copy of it; if you know that no entry is lost, move it away and call Ledger.vouch."
            )
        return found

    def _bytes(self) -> bytes:
        try:
            return os.pread(self._descriptor, _LONGEST, 0)
        except OSError as problem:
            raise unavailable(self._path, "be read", problem) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as problem:
                if time.monotonic() > until:
                    raise unavailable(self._path, "be locked", problem) from None
                time.sleep(0.0005)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)


@contextmanager
def opened(path: Path) -> Iterator[AnchorFile]:
    """Open an anchor; without one, a ledger that has entries is not to be trusted."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as problem:
        raise unavailable(path, "be opened for writing", problem) from None
    try:
        yield AnchorFile(path, descriptor)
    finally:
        os.close(descriptor)


def peeked(path: Path) -> Anchored:
    """Read an anchor without the right to write it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as problem:
        raise unavailable(path, "be read", problem) from None
    try:
        return AnchorFile(path, descriptor).read()
    finally:
        os.close(descriptor)


def dropped(path: Path, state: Anchored) -> None:
    """Write a new anchor, durably, unless somebody else did just now."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, _written(state))
            os.fsync(descriptor)
            os.link(unfinished, path)
        except FileExistsError:
            pass
        finally:
            os.close(descriptor)
            unfinished.unlink()
        sync_folder(path.parent)
    except OSError as problem:
        raise unavailable(path, "be created", problem) from None


def refuse_taken(path: Path, ledger: str) -> None:
    """Refuse a place for an anchor where there is something."""
    if path.exists() or str(path) == ledger:
        raise InvalidParameter(
            f"the anchor must be a new file; {str(path)!r} is there and may belong to another ledger. "
            "Name another place, or move it away if you know that it is no longer needed."
        )


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def state_folder() -> Path:
    """Give the folder of the user for anchors of ledgers that lie on servers."""
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    return base / "dpselect" / "anchors"


def missing(path: Path) -> LedgerDamaged:
    """Say that an anchor is gone, and what to do."""
    return LedgerDamaged(
        f"the anchor {str(path)!r} is gone; without it nobody knows whether entries are missing. "
        "Put it back; if you know that none is, call Ledger.vouch."
    )


def unavailable(path: Path, what: str, problem: OSError) -> LedgerUnavailable:
    """Say what could not be done with an anchor."""
    return LedgerUnavailable(f"the anchor {str(path)!r} could not {what}: {os.strerror(problem.errno or 0)}.")


def _further(before: Mark, after: Mark | None, *, entry: int | None) -> Mark:
    if after is None or after.number < before.number:
        return before
    if after.number == before.number and after.digest != before.digest:
        raise LedgerDamaged("the anchor belongs to another ledger, or to another copy of it.", entry=entry)
    return after


def _written(state: Anchored) -> bytes:
    entries, answers = state.entries, state.answers
    record = (
        f"dpselect anchor 1\nheader {state.header}\nentries {entries.number:020d} {entries.digest}\n"
        f"answers {answers.number:020d} {answers.digest}\n"
    ).encode("ascii")
    return record + b"check " + hashlib.sha256(record).hexdigest().encode("ascii") + b"\n"


def _parsed(read: bytes) -> Anchored | None:
    record = _RECORD.match(read)
    check = _CHECK.fullmatch(read, record.end()) if record else None
    if not record or not check or hashlib.sha256(record[0]).hexdigest() != check[1].decode():
        return None
    header, entries, entries_digest, answers, answers_digest = (part.decode() for part in record.groups())
    return Anchored(header, Mark(int(entries), entries_digest), Mark(int(answers), answers_digest))
