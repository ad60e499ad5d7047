"""The page docs/reference/cli.md, made of the help texts: ``python -m dpselect.cli.reference > PAGE``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from dpselect.cli.runner import dpselect

WIDTH = 100
"""Characters of a line of help."""
HEAD = """# The command line

Made from the help texts by `python -m dpselect.cli.reference > docs/reference/cli.md`; do not edit it here.

Results go to standard output, notes and progress to standard error, and those only if it is a terminal: when
all went well, a script sees nothing there. What `--json` writes is described in [json.md](json.md).

| exit code | meaning |
| --- | --- |
| 0 | it went well |
| 2 | the command line alone is wrong, such as an unknown option, or a file or column that is not there |
| 3 | the ledger cannot afford it; nothing was charged, nothing was read |
| 4 | the table was opened and refused; if that was after the charge, it says that the budget is spent |
| 1 | anything else |
| 130, 143, 129 | ended by Ctrl-C, by SIGTERM, by SIGHUP: tidied up, and it says what was charged |
"""


def page() -> str:
    """Write the page."""
    sections = [HEAD]
    for path, command in _commands(dpselect, ("dpselect",)):
        context = click.Context(
            command, info_name=" ".join(path), terminal_width=WIDTH, max_content_width=WIDTH
        )
        context.help_option_names = ["-h", "--help"]
        sections.append(f"## {' '.join(path)}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(sections)


def _commands(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _commands(inner, (*path, name))


if __name__ == "__main__":
    click.echo(page(), nl=False)
