"""Stands between a client and its server, and can lose what is said about a commit."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

COMMIT = b"COMMIT\0"
"""How a client asks for it, in the protocol of PostgreSQL."""


class SwallowingProxy:
    """Passes everything on, until it is told to lose commits: the request, or the server's answer to it."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.losing: str | None = None
        """None, "the request" or "the answer"."""
        self.lost = threading.Semaphore(0)
        """Released once for each commit that was lost."""
        self._sockets: list[socket.socket] = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                self._sockets += [client, server]
                threading.Thread(target=self._serve, args=[client, server], daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        committing = threading.Event()
        answers = threading.Thread(target=self._answer, args=[client, server, committing], daemon=True)
        answers.start()
        with suppress(OSError):
            while said := client.recv(65536):
                if COMMIT in said and self.losing == "the request":
                    self.lost.release()
                    return
                if COMMIT in said and self.losing == "the answer":
                    committing.set()
                server.sendall(said)

    def _answer(self, client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
        with suppress(OSError):
            while said := server.recv(65536):
                if committing.is_set():
                    self.lost.release()
                    return
                client.sendall(said)

    def hang_up(self) -> None:
        """Close all connections."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
