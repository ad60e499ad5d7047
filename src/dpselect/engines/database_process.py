"""The process that opens a DuckDB database file and runs queries on it: started by ``database_files``.

Run as a script, and of the standard library and DuckDB alone, so that it starts fast. What goes wrong in here
(a crash, a loop without an end, memory without a bound) ends this process, and the release with a sentence.
"""

from __future__ import annotations

import os
import resource
import sys
import threading

ADDRESSES = 4 << 30
"""Bytes of addresses beyond the machine's memory: DuckDB and its threads reserve more than they use."""
OPEN_FILES = 1024
"""File descriptors that the process may have open."""


def serve() -> None:
    """Open the database that the first message names; then answer until the other end is closed."""
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    _limit()
    from multiprocessing.connection import Connection  # noqa: PLC0415 - loaded under the limits

    with Connection(int(sys.argv[1])) as parent:
        database, config, sys.path[:] = parent.recv()
        import duckdb  # noqa: PLC0415 - found on the parent's path

        connection = None
        while True:
            try:
                if connection is None:
                    connection = duckdb.connect(database, read_only=True, config=config)
                    answer = None
                else:
                    method, arguments = parent.recv()
                    answer = getattr(connection, method)(*arguments)
                parent.send((answer if isinstance(answer, list) else None, None))
            except EOFError:
                return
            except Exception as error:  # noqa: BLE001 - told to the parent, which keeps its kind alone
                parent.send((None, (type(error).__name__, str(error))))


def _end_with_the_parent() -> None:
    """End at once, in the middle of a query too, when the other end of standard input is gone."""
    while os.read(0, 1):
        pass
    os._exit(0)


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
