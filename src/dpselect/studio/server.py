"""The server: one process on one socket, which tells when it is ready and logs nothing of requests."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpselect.errors import InvalidParameter
from dpselect.studio.app import Studio
from dpselect.studio.settings import Settings

BACKLOG = 2048
"""Connections that wait to be taken."""
LONGEST_HEAD = 32 * 1024
"""Bytes of the head of a request."""
IDLE_SECONDS, STOPPING_SECONDS = 15, 10
"""How long an idle connection stays open, and how long answers may take once the server stops."""


class PatientOnce(H11Protocol):
    """HTTP, where both sides must be quick: a socket that sends no head, or reads no answer, is closed."""

    patience: float = 10.0
    """Seconds."""
    _head_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what has come; once a request is being answered, nothing is waited for."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._head_timer is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        self._stop_awaiting_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the other side to read: more than the buffers hold is not sent before."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """Go on: it has read."""
        self._stop_awaiting_reader()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the other side to read the rest, though nothing more is to be sent."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._await_reader()

    def _await_reader(self) -> None:
        self._stop_awaiting_reader()
        self._reader_timer = self.loop.call_later(self.patience, self._hang_up)

    def _stop_awaiting_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _hang_up(self) -> None:
        self._reader_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()


def bound_socket(settings: Settings) -> socket.socket:
    """Take the port; 0 takes a free one."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        made.close()
        raise InvalidParameter(
            f"port must be free on {settings.host[:60]}; {settings.port} is not ({error.strerror}). "
            "Name another, or 0 for a free one."
        ) from None
    return made


def address_of(settings: Settings, bound: socket.socket) -> str:
    """Give the address under which the studio is reached from this machine."""
    scheme = "http" if settings.certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host and settings.host[:1] != "[" else settings.host
    return f"{scheme}://{host}:{bound.getsockname()[1]}"


def serve_studio(studio: Studio, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until a signal comes."""
    _allow_many_sockets()
    with studio:
        server_of(studio, ready).run(sockets=[bound])


def server_of(studio: Studio, ready: Callable[[], None]) -> uvicorn.Server:
    """Make the server of a studio."""
    settings = studio.settings
    tls: dict[str, Any] = {}
    if settings.certificate is not None and settings.private_key is not None:
        tls = {"ssl_certfile": str(settings.certificate), "ssl_keyfile": str(settings.private_key)}
    config = uvicorn.Config(
        studio.application,
        http=type("Patient", (PatientOnce,), {"patience": settings.body_seconds}),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOPPING_SECONDS,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        **tls,
    )
    return _Server(config, ready)


def _allow_many_sockets() -> None:
    """Let the process open as many sockets as its owner may allow it."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if least < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most if most > 0 else least, most))
