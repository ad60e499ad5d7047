"""The command ``studio``: what it refuses before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Call


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--host 0.0.0.0", "host must be of this machine alone"),
        ("--host example.org", "host must be of this machine alone"),
        ("--port 70000", "port must be 0 to 65535"),
        ("--tls-key {key}", "belong together"),
        ("--tls-certificate {key} --tls-key {key}", "must be PEM files"),
        ("--behind-proxy http://x.example", "--behind-proxy must be the address"),
        ("--tick 0", "tick must be"),
        ("--allowed-root /no/such/folder", "allowed-root"),
    ],
)
def test_a_studio_that_could_be_read_on_the_way_does_not_start(
    call: Call, tmp_path: Path, options: str, said: str
) -> None:
    key = tmp_path / "key.pem"
    key.touch()
    told = call(f"studio --folder {tmp_path}/state " + options.format(key=key))
    assert told.code == 2
    assert said in told.err
    assert not (tmp_path / "state").exists()  # the key of a first start would be lost
