"""The command ``studio``: pages and an API for analysts and curators, on this machine or behind TLS."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console, demo_data
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import NUMBER_METAVAR

if TYPE_CHECKING:
    from dpselect.studio.app import Studio

FIRST_CURATOR = "curator"
"""The name of the first key."""
STATE_FOLDER = "dpselect-studio"
"""Where the state is, if no folder is named: in the present one."""


@command(
    name="studio",
    epilog=examples("studio --demo", "studio --folder clinic --allowed-root /srv/tables --port 8350"),
)
@click.option(
    "--folder", type=click.Path(file_okay=False), help="The studio's state.  [default: dpselect-studio]"
)
@click.option(
    "--port", type=int, default=8350, show_default=True, metavar=NUMBER_METAVAR, help="0 takes a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Another one needs TLS, or a proxy.")
@click.option("--tls-certificate", type=click.Path(exists=True, dir_okay=False), help="A PEM file.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Its private key.")
@click.option(
    "--behind-proxy",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ADDRESS]",
    help="A proxy has TLS, under this public address.",
)
@click.option(
    "--ledgers",
    metavar="ADDRESS",
    help="A PostgreSQL database for the ledgers, so that several studios share budgets.",
)
@click.option(
    "--trusted-header",
    metavar="NAME",
    help="The header in which the proxy says who asks; needs --behind-proxy.",
)
@click.option(
    "--allowed-root",
    "allowed_roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder whose tables may be registered; give it again for more.",
)
@click.option(
    "--tick",
    type=float,
    default=1.0,
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="Seconds: answers leave at multiples of it.",
)
@click.option(
    "--new-curator-key", is_flag=True, help="Show a new key of the first curator: the old one, lost, ends."
)
@click.option("--demo", is_flag=True, help="With made-up data, in --folder or a temporary one.")
@click.option("--json", "as_json", is_flag=True, help="Write one line when ready: address and keys.")
def studio_command(**given: Any) -> None:
    """Start the studio: ask, pay and get answers in a browser.

    Price and accuracy are shown before you pay.

    A curator's key is shown at the first start, once. Stop with Ctrl-C.
    """
    from dpselect.errors import MissingExtra

    if any(find_spec(each) is None for each in ("starlette", "uvicorn", "jinja2", "python_multipart")):
        raise MissingExtra.needed("the studio", extra="studio")
    with _folder(given["folder"], demo=given["demo"]) as folder:
        _serve(folder, given)


@contextlib.contextmanager
def _folder(named: str | None, *, demo: bool) -> Iterator[Path]:
    """Give the folder of the state."""
    if named is None and demo:
        with tempfile.TemporaryDirectory(prefix="dpselect-studio-") as made:
            yield Path(made).resolve()
        return
    yield Path(named or STATE_FOLDER).resolve()


def _serve(folder: Path, given: dict[str, Any]) -> None:
    from dpselect.studio.app import Studio
    from dpselect.studio.demo import set_up
    from dpselect.studio.server import address_of, bound_socket, serve_studio
    from dpselect.studio.settings import Settings

    data = folder / "demo"
    roots = [Path(each) for each in given["allowed_roots"]] + ([data] if given["demo"] else [])
    settings = Settings(
        folder=folder,
        host=given["host"],
        port=given["port"],
        certificate=_path(given["tls_certificate"]),
        private_key=_path(given["tls_key"]),
        behind_proxy=given["behind_proxy"],
        trusted_header=given["trusted_header"],
        ledgers=given["ledgers"],
        allowed_roots=tuple(roots),
        tick=given["tick"],
        demo=given["demo"],
    )
    with contextlib.closing(bound_socket(settings)) as bound:
        studio = Studio(settings)
        analyst = set_up(studio, _demo_tables(data)) if given["demo"] else None
        address = address_of(settings, bound)

        def ready() -> None:  # a key that is made before is lost if the server cannot start
            wanted = given["new_curator_key"] or not studio.keys.any_of_role("curator")
            curator = studio.keys.replace(FIRST_CURATOR, "curator") if wanted else None
            if given["as_json"]:
                keys = {"curator_key": curator, **({"analyst_key": analyst} if given["demo"] else {})}
                click.echo(json.dumps({"address": address, **keys}))
            else:
                _welcome(studio, address, curator, analyst)

        serve_studio(studio, bound, ready)


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _demo_tables(folder: Path) -> dict[str, Any]:
    """Make the tables of the demonstration up, unless they are there."""
    from dpselect.studio.demo import DemoTable

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "survey.csv").exists():
        with console.working("making up an election and a survey"):
            demo_data.write_files(folder)
    people = f"{demo_data.PEOPLE:,} made-up people"
    low, high, step = demo_data.PRICES.split(":")
    return {
        "mascots": DemoTable(
            folder / "ballots.csv",
            "person",
            f"Which mascots do they like? {people} and {len(demo_data.MASCOTS)} names.",
            {"name": demo_data.MASCOTS, "town": demo_data.TOWNS},
        ),
        "song": DemoTable(
            folder / "survey.csv",
            "person",
            f"What would they pay for the song 'My Corona'? {people}.",
            {"town": demo_data.TOWNS},
            {"pays": {"low": low, "high": high, "step": step}},
        ),
    }


def _welcome(studio: Studio, address: str, curator: str | None, analyst: str | None) -> None:
    """Tell a person where to go, with the keys that are shown this once."""
    from dpselect.studio.demo import DEMO_ANALYST

    facts = {"studio": address}
    if curator is not None:
        facts["curator's key"] = f"{curator}  (shown this once: keep it)"
    if analyst is not None:
        facts["analyst's key"] = f"{analyst}  (of {DEMO_ANALYST}, shown this once)"
    ada = studio.keys.named(DEMO_ANALYST) if studio.settings.demo else None
    if ada is not None:
        facts["open this"] = f"{address}/welcome/{studio.sessions.link(ada)}"
    console.write_facts(facts)
    if ada is not None:
        click.echo(f"The link signs in once, as the analyst {DEMO_ANALYST}. Stop with Ctrl-C.")
    sys.stdout.flush()
