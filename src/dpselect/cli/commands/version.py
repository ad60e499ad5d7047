"""The command ``version``."""

from __future__ import annotations

import json

import click

from dpselect import __version__
from dpselect.cli.declaration import command, examples


@command(name="version", epilog=examples("version"))
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def version_command(*, as_json: bool) -> None:
    """Say which version this is."""
    click.echo(json.dumps({"version": __version__}) if as_json else f"dpselect {__version__}")
