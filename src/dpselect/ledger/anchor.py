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
from io import FileIO
from pathlib import Path
from typing import NamedTuple, Self

from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from dpselect.ledger.entries import Mark

PATIENCE = 30.0
"""How long to wait for a lock, in seconds."""
SHORT_PAUSE, LONG_PAUSE, LONG_WAIT = 0.001, 0.025, 1.0
"""How long to sleep between two looks at it, and from when on to look often."""

_RECORD = re.compile(
    rb"dpselect anchor 1\n"
    rb"header ([0-9a-f]{64})\n"
    rb"entries ([0-9]{20}) ([0-9a-f]{64})\n"
    rb"answers ([0-9]{20}) ([0-9a-f]{64})\n"
)
_CHECK = re.compile(rb"check ([0-9a-f]{64})\n")
_LONGEST = 512


class Anchored(NamedTuple):
    """What an anchor says: which ledger, and how far its two chains had come."""

    header: str
    entries: Mark
    answers: Mark


def at_start(header: str) -> Anchored:
    """Give the anchor of a ledger without entries: both chains stand on the header."""
    return Anchored(header, Mark(0, header), Mark(0, header))


class Anchor:
    """An anchor that is locked for one who writes: from before the ledger is read until after the commit.

    Writers wait for each other here, so that they need not wait for each other in the database.
    """

    def __init__(self, path: Path) -> None:
        """Take the path; ``with`` opens and locks it."""
        self._path = path

    def __enter__(self) -> Self:
        self._file = _opened(self._path, "r+", "be opened for writing")
        try:
            _lock(self._file, self._path)
            self.state = _read(self._file, self._path)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def advance(self, *, entries: Mark | None = None, answers: Mark | None = None) -> None:
        """Move it forwards; what was read under the same lock lies behind."""
        self.state = Anchored(self.state.header, entries or self.state.entries, answers or self.state.answers)
        record = _written(self.state)
        try:
            os.pwrite(self._file.fileno(), record, 0)
        except OSError as problem:
            raise unavailable(self._path, "be written", problem) from None
        _remember(record, self.state)


def peeked(path: Path) -> Anchored:
    """Read an anchor without the right to write it. A read that met a write is repeated under the lock."""
    with _opened(path, "r", "be read") as file:
        found = _parsed(_bytes(file, path))
        if found is None:
            _lock(file, path)
            return _read(file, path)
        return found


def _opened(path: Path, mode: str, what: str) -> FileIO:
    """Open an anchor as an object that closes itself: an interruption leaves no lock behind."""
    try:
        return FileIO(path, mode)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as problem:
        raise unavailable(path, what, problem) from None


def _lock(file: FileIO, path: Path) -> None:
    """Wait for the lock, but not for ever.

    At first the pauses grow beyond the time of a commit: who has just written and writes again finds
    everything at hand, while a change of hands at each commit would halve what all of them get done. Who
    has waited for long looks often: nobody is to starve behind one who never rests.
    """
    started, pause = 0.0, SHORT_PAUSE
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            started = started or time.monotonic()
            waited = time.monotonic() - started
            if waited > PATIENCE:
                raise unavailable(path, "be locked", problem) from None
        except OSError as problem:
            raise unavailable(path, "be locked", problem) from None
        time.sleep(pause)
        pause = min(2 * pause, LONG_PAUSE) if waited < LONG_WAIT else SHORT_PAUSE


def _read(file: FileIO, path: Path) -> Anchored:
    found = _parsed(_bytes(file, path))
    if found is None:
        raise LedgerDamaged(
            f"the anchor {str(path)!r} is damaged; its ledger accepts no charge. Put back a whole "
            "copy of it; if you know that no entry is lost, move it away and call Ledger.vouch."
        )
    return found


def _bytes(file: FileIO, path: Path) -> bytes:
    try:
        return os.pread(file.fileno(), _LONGEST, 0)
    except OSError as problem:
        raise unavailable(path, "be read", problem) from None


def dropped(path: Path, state: Anchored) -> None:
    """Write a new anchor, durably, unless somebody else did just now."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
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


def is_there(path: Path) -> bool:
    """Say whether there is an anchor; one that cannot be looked for is not gone."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as problem:
        raise unavailable(path, "be looked for", problem) from None
    return True


def refuse_taken(path: Path, ledger: str) -> None:
    """Refuse a place for an anchor where there is something."""
    if is_there(path) or str(path) == ledger:
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


def _written(state: Anchored) -> bytes:
    entries, answers = state.entries, state.answers
    record = (
        f"dpselect anchor 1\nheader {state.header}\nentries {entries.number:020d} {entries.digest}\n"
        f"answers {answers.number:020d} {answers.digest}\n"
    ).encode("ascii")
    return record + b"check " + hashlib.sha256(record).hexdigest().encode("ascii") + b"\n"


def _parsed(read: bytes) -> Anchored | None:
    known = _parsed_before.get(read)
    if known:
        return known
    record = _RECORD.match(read)
    check = _CHECK.fullmatch(read, record.end()) if record else None
    if not record or not check or hashlib.sha256(record[0]).hexdigest() != check[1].decode():
        return None
    header, entries, entries_digest, answers, answers_digest = (part.decode() for part in record.groups())
    found = Anchored(header, Mark(int(entries), entries_digest), Mark(int(answers), answers_digest))
    _remember(read, found)
    return found


_parsed_before: dict[bytes, Anchored] = {}


def _remember(record: bytes, state: Anchored) -> None:
    """Keep a few records: the same bytes need not be parsed again."""
    if len(_parsed_before) >= 16:
        _parsed_before.clear()
    _parsed_before[record] = state
