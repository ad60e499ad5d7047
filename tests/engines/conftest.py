"""The server that the engines are tested against: one for all tests of a process."""

from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]
