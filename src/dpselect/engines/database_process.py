"""The process that opens a DuckDB database file and runs queries on it: started by ``database_files``.

Every release from such a file waits for its start. So it is a script that loads little: of DuckDB the
compiled part alone, and in the place of ``multiprocessing.connection`` its format, a length and a pickle.

What goes wrong in here (a crash, a loop without an end, memory without a bound) ends this process, and the
release with a sentence.
"""

from __future__ import annotations

import _thread
import os
import pickle
import resource
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from duckdb import DuckDBPyConnection

ADDRESSES = 4 << 30
"""Bytes of addresses beyond the machine's memory: DuckDB and its threads reserve more than they use."""
OPEN_FILES = 1024
"""File descriptors that the process may have open."""
TELLING_SECONDS = 0.02
"""From one word about progress to the next."""


def serve() -> None:
    """Open the database that the first message names; then answer until the other end is closed."""
    _thread.start_new_thread(_end_with_the_parent, ())
    _limit()
    pipe = int(sys.argv[1])
    with open(pipe, "rb") as questions, open(pipe, "wb", closefd=False) as answers:
        database, config, sys.path[:] = _received(questions)
        connection = None
        while True:
            try:
                if connection is None:
                    connection = _connected(database, config)
                    _thread.start_new_thread(_tell_progress, (connection, int(sys.argv[2])))
                    answer = None
                else:
                    method, arguments = _received(questions)
                    answer = getattr(connection, method)(*arguments)
                _send(answers, (answer if isinstance(answer, list) else None, None))
            except EOFError:
                return
            except Exception as error:  # noqa: BLE001 - told to the parent, which keeps its kind alone
                _send(answers, (None, (type(error).__name__, str(error))))


def _connected(database: str, config: Any) -> Any:
    """Open the database. DuckDB's package takes longer to load than all the rest, and is not needed here."""
    try:
        import _duckdb as duckdb  # noqa: PLC0415 - found on the parent's path
    except ImportError:
        import duckdb  # type: ignore[no-redef]  # noqa: PLC0415 - as above
    return duckdb.connect(database, read_only=True, config=config)


def _received(questions: BinaryIO) -> Any:
    """Read one message of a ``multiprocessing.connection.Connection``."""
    size = questions.read(4)
    if not size:
        raise EOFError
    return pickle.loads(questions.read(int.from_bytes(size, "big")))  # noqa: S301 - our parent wrote it


def _send(answers: BinaryIO, message: object) -> None:
    """Write one message, as such a Connection reads it."""
    written = pickle.dumps(message)
    answers.write(len(written).to_bytes(4, "big") + written)
    answers.flush()


def _end_with_the_parent() -> None:
    """End at once, in the middle of a query too, when the other end of standard input is gone."""
    while os.read(0, 1):
        pass
    os._exit(0)


def _tell_progress(connection: DuckDBPyConnection, descriptor: int) -> None:
    """Write the per cent that are done, as one byte each, while a query tells them; a full pipe gets none."""
    os.set_blocking(descriptor, False)
    while True:
        time.sleep(TELLING_SECONDS)
        try:
            done = connection.query_progress()
            if 0 <= done <= 100:
                os.write(descriptor, bytes([int(done)]))
        except Exception:  # noqa: BLE001, S112 - nothing depends on it
            continue


def _limit() -> None:
    """Bound memory and files, and write no core: it would hold rows."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, memory + ADDRESSES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        _, hard = resource.getrlimit(what)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))


if __name__ == "__main__":
    serve()
