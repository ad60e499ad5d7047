"""The server that the owner's check is tested against: one for all tests of a process."""

from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]
