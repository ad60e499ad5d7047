"""An anchor: a small file that says how far a ledger has come. It reveals an old or a cut copy of the ledger.

A ledger ahead of its anchor is healthy: a crash came between the commit and the anchor. A ledger behind its
anchor has lost entries.

An anchor is one record of a fixed size, smaller than a disk sector. After each commit it is overwritten in
place, and moves only forwards. The writer does not wait for the disk: after a crash the record is the new one
or an older one, never a torn one. The form of the record is part of the stored format (entries.py).
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
from dpselect.ledger.entries import Position

LOCK_TIMEOUT_SECONDS = 30.0
"""How long a writer waits for the lock before it gives up."""
SHORT_PAUSE_SECONDS, LONG_PAUSE_SECONDS = 0.001, 0.025
"""The shortest and the longest pause between two attempts to lock."""
LONG_WAIT_SECONDS = 1.0
"""A writer that has waited longer than this makes short pauses only."""

_RECORD = re.compile(
    rb"dpselect anchor 1\n"
    rb"header ([0-9a-f]{64})\n"
    rb"entries ([0-9]{20}) ([0-9a-f]{64})\n"
    rb"answers ([0-9]{20}) ([0-9a-f]{64})\n"
)
_CHECK = re.compile(rb"check ([0-9a-f]{64})\n")
_MOST_BYTES = 512
"""Bytes of a sector: a record is shorter, so that a disk writes it as a whole."""


class AnchorState(NamedTuple):
    """The content of an anchor: the digest of the ledger's header, and the ends of its two chains."""

    header: str
    entries: Position
    answers: Position


def empty_state(header: str) -> AnchorState:
    """Give the state of a ledger without entries: both chains end at the header."""
    return AnchorState(header, Position(0, header), Position(0, header))


class LockedAnchor:
    """An anchor that a writer holds locked, from before it reads the ledger until after its commit.

    Writers queue at this lock, so they do not queue in the database.
    """

    def __init__(self, path: Path) -> None:
        """Take the path; ``with`` opens and locks the file."""
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

    def advance(self, *, entries: Position | None = None, answers: Position | None = None) -> None:
        """Move the anchor forwards from the state that was read under the same lock."""
        self.state = AnchorState(
            self.state.header, entries or self.state.entries, answers or self.state.answers
        )
        record = _record(self.state)
        try:
            os.pwrite(self._file.fileno(), record, 0)
        except OSError as problem:
            raise anchor_unavailable(self._path, "be written", problem) from None
        _remember(record, self.state)


def read_anchor(path: Path) -> AnchorState:
    """Read an anchor, without the right to write. A read that met a write is repeated under the lock."""
    with _opened(path, "r", "be read") as file:
        found = _parsed(_bytes(file, path))
        if found is None:
            _lock(file, path)
            return _read(file, path)
        return found


def _opened(path: Path, mode: str, what: str) -> FileIO:
    """Open an anchor as an object that closes itself, so that an interruption leaves no lock behind."""
    try:
        return FileIO(path, mode)
    except FileNotFoundError:
        raise anchor_missing(path) from None
    except OSError as problem:
        raise anchor_unavailable(path, what, problem) from None


def _lock(file: FileIO, path: Path) -> None:
    """Wait for the lock until the timeout.

    At first the pauses grow longer than a commit takes. So a writer that has just written may write again:
    its caches are warm, and a change of writers at each commit would halve the throughput of all. A writer
    that has waited for long makes short pauses, so that it does not starve behind a busy one.
    """
    started, pause = 0.0, SHORT_PAUSE_SECONDS
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            started = started or time.monotonic()
            waited = time.monotonic() - started
            if waited > LOCK_TIMEOUT_SECONDS:
                raise anchor_unavailable(path, "be locked", problem) from None
        except OSError as problem:
            raise anchor_unavailable(path, "be locked", problem) from None
        time.sleep(pause)
        pause = min(2 * pause, LONG_PAUSE_SECONDS) if waited < LONG_WAIT_SECONDS else SHORT_PAUSE_SECONDS


def _read(file: FileIO, path: Path) -> AnchorState:
    found = _parsed(_bytes(file, path))
    if found is None:
        raise LedgerDamaged(
            f"the anchor {str(path)!r} is damaged; its ledger accepts no charge. Put back a whole "
            "copy of it; if you know that no entry is lost, move it away and call Ledger.vouch."
        )
    return found


def _bytes(file: FileIO, path: Path) -> bytes:
    try:
        return os.pread(file.fileno(), _MOST_BYTES, 0)
    except OSError as problem:
        raise anchor_unavailable(path, "be read", problem) from None


def create_anchor(path: Path, state: AnchorState) -> None:
    """Write a new anchor, durably. If another process has just written one, that one stays."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, _record(state))
            os.fsync(descriptor)
            os.link(unfinished, path)
        except FileExistsError:
            pass
        finally:
            os.close(descriptor)
            unfinished.unlink()
        sync_folder(path.parent)
    except OSError as problem:
        raise anchor_unavailable(path, "be created", problem) from None


def anchor_exists(path: Path) -> bool:
    """Say whether there is an anchor. If that cannot be found out, it counts as unavailable, not as gone."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as problem:
        raise anchor_unavailable(path, "be looked for", problem) from None
    return True


def refuse_existing_anchor(path: Path, ledger: str) -> None:
    """Refuse to make an anchor where there is a file."""
    if anchor_exists(path) or str(path) == ledger:
        raise InvalidParameter(
            f"the anchor must be a new file; {str(path)!r} is there and may belong to another ledger. "
            "Name another place, or move it away if you know that it is no longer needed."
        )


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk, so that the names of new files in it are durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def state_folder() -> Path:
    """Give the user's folder for the anchors of ledgers on servers."""
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    return base / "dpselect" / "anchors"


def anchor_missing(path: Path) -> LedgerDamaged:
    """Say that an anchor is gone, and what to do about it."""
    return LedgerDamaged(
        f"the anchor {str(path)!r} is gone; without it nobody knows whether entries are missing. "
        "Put it back; if you know that none is, call Ledger.vouch."
    )


def anchor_unavailable(path: Path, what: str, problem: OSError) -> LedgerUnavailable:
    """Say what could not be done with an anchor, and what to do: a charge may be recorded without it."""
    why = os.strerror(problem.errno or 0)
    return LedgerUnavailable(
        f"the anchor {str(path)!r} could not {what}: {why}. Release nothing; mend it and try again."
    )


def _record(state: AnchorState) -> bytes:
    entries, answers = state.entries, state.answers
    record = (
        f"dpselect anchor 1\nheader {state.header}\nentries {entries.number:020d} {entries.digest}\n"
        f"answers {answers.number:020d} {answers.digest}\n"
    ).encode("ascii")
    return record + b"check " + hashlib.sha256(record).hexdigest().encode("ascii") + b"\n"


def _parsed(read: bytes) -> AnchorState | None:
    known = _parsed_before.get(read)
    if known:
        return known
    record = _RECORD.match(read)
    check = _CHECK.fullmatch(read, record.end()) if record else None
    if not record or not check or hashlib.sha256(record[0]).hexdigest() != check[1].decode():
        return None
    header, entries, entries_digest, answers, answers_digest = (part.decode() for part in record.groups())
    found = AnchorState(
        header, Position(int(entries), entries_digest), Position(int(answers), answers_digest)
    )
    _remember(read, found)
    return found


_parsed_before: dict[bytes, AnchorState] = {}


def _remember(record: bytes, state: AnchorState) -> None:
    """Keep up to 16 records, so that the same bytes are not parsed again."""
    if len(_parsed_before) >= 16:
        _parsed_before.clear()
    _parsed_before[record] = state
