"""The settings of a studio: where its state is, who may reach it, and what a curator may register."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from dpselect.errors import InvalidParameter
from dpselect.studio.ledger_places import must_be_a_server

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HOST_HEADER = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")

HEADER_NAME = re.compile(
    r"(?i)(?!(cookie|host|origin|authorization|content-\w+|sec-\S+|hx-\S+)$)[a-z][a-z0-9-]{0,63}"
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is decided when a studio starts."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8350
    certificate: Path | None = None
    private_key: Path | None = None
    behind_proxy: str | None = None
    """The public address of the proxy, or "" where the proxy alone checks the name it is called by."""
    trusted_header: str | None = None
    """The header in which the proxy says the name of who asks, whom it has identified; None: keys alone."""
    ledgers: str | None = None
    """The PostgreSQL database in which ledgers are made, which several studios share; None: in the folder."""
    allowed_roots: tuple[Path, ...] = ()
    tick: float = 1.0
    """Seconds: answers leave when the time is a multiple of it."""
    requests_per_second: float = 50.0
    """For each key, after a burst of four seconds' worth."""
    body_seconds: float = 10.0
    """How long a request may take to send its body, and its head."""
    demo: bool = False
    names: tuple[str, ...] = field(init=False, default=())
    """The names by which the studio may be called, in lower case."""

    def __post_init__(self) -> None:
        """Refuse a public address without TLS or a proxy that has it."""
        _must_be_a_pair(self.certificate, self.private_key)
        if self.certificate is None and self.behind_proxy is None and not is_loopback(self.host):
            raise InvalidParameter(
                f"host must be of this machine alone, such as 127.0.0.1, unless TLS hides what is sent; got "
                f"{self.host[:60]!r}. Give tls_certificate and tls_key, or behind_proxy if a proxy has TLS."
            )
        if self.ledgers is not None:
            must_be_a_server(self.ledgers)
        if self.trusted_header is not None:
            self._must_be_set_by_a_proxy(self.trusted_header)
        if not 0.02 <= self.tick <= 60:
            raise InvalidParameter.must_be("tick", "0.02 to 60 seconds", got=self.tick)
        if not 0 <= self.port <= 65535:
            raise InvalidParameter.must_be("port", "0 to 65535; 0 takes a free one", got=self.port)
        known = {*LOOPBACK, self.host.lower()}
        if not is_loopback(self.host):
            known |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        if self.behind_proxy:
            parts = urlsplit(self.behind_proxy)
            if parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
                raise InvalidParameter.must_be(
                    "behind_proxy",
                    "the address of the proxy",
                    got=self.behind_proxy,
                    way_out="Write https://studio.example.org.",
                )
            known.add(parts.hostname.lower())
        object.__setattr__(self, "names", tuple(sorted(known)))

    def _must_be_set_by_a_proxy(self, header: str) -> None:
        """Refuse to trust a header that anyone may send, or that says something else."""
        if self.behind_proxy is None:
            raise InvalidParameter(
                "trusted_header needs a proxy that sets it: anyone else could. Give behind_proxy."
            )
        if not HEADER_NAME.fullmatch(header):
            raise InvalidParameter.must_be(
                "trusted_header",
                "the name of a header of its own",
                got=header,
                way_out="Write X-Forwarded-User.",
            )

    @property
    def secure(self) -> bool:
        """Whether browsers reach the studio by TLS."""
        return self.certificate is not None or self.behind_proxy is not None

    def knows_host(self, header: str) -> bool:
        """Say whether a Host header names this studio: a page of another name may be an attack by DNS."""
        found = HOST_HEADER.fullmatch(header)
        if found is None:
            return False
        host = found["host"].lower()
        if host in self.names or self.behind_proxy == "":
            return True
        return not is_loopback(self.host) and _is_address(host)


def _must_be_a_pair(certificate: Path | None, private_key: Path | None) -> None:
    """Refuse files that a server with TLS could not start with."""
    if (certificate is None) != (private_key is None):
        raise InvalidParameter("tls_certificate and tls_key belong together. Give both, or none.")
    if certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, private_key, password="")
    except (OSError, ValueError):
        raise InvalidParameter(
            "tls_certificate and tls_key must be PEM files that can be read: a certificate with its chain, "
            "and its key without a passphrase."
        ) from None


def is_loopback(host: str) -> bool:
    """Say whether an address can be reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    """Say whether a host is written as numbers: then no name was bent to point here."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
