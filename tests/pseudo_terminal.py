"""A real pseudo-terminal: what a program writes to it is read at its other end."""

from __future__ import annotations

import contextlib
import os
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class PseudoTerminal:
    """Both ends of a pseudo-terminal, and what has arrived so far."""

    def __init__(self, columns: int) -> None:
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (24, columns))
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        self._seen = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while part := os.read(self.master, 65536):
                self._seen += part

    def seen(self) -> str:
        """Close the program's end, and give everything that it wrote."""
        self.stream.close()
        self._reader.join(10)
        return self._seen.decode("utf-8")


@contextmanager
def pseudo_terminal(columns: int = 80) -> Iterator[PseudoTerminal]:
    """Give a terminal; its width is in characters."""
    terminal = PseudoTerminal(columns)
    try:
        yield terminal
    finally:
        terminal.seen()
        os.close(terminal.master)


def screen(written: str) -> list[str]:
    """Give the lines that stand on the screen after it: a carriage return writes over what is there."""
    lines = []
    for line in written.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines
