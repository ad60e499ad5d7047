"""The entry: listen to signals first, then load the commands and run one.

Loading takes longer than most commands, so that a Ctrl-C often comes meanwhile. It gets its sentence too.
"""

from __future__ import annotations

import os
import sys

from dpselect.cli import interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the words of the command line, and exit."""
    code = 1
    try:
        interrupts.listen()
        from dpselect.cli.runner import run_program

        code = run_program(sys.argv[1:])
        interrupts.stop_listening()  # here, where a signal that comes just before it is caught
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - no user gets a traceback
        interrupts.stop_listening()
        stopped = interrupts.exit_code()
        code = stopped or 1
        _say(_stopped(stopped) if stopped else _unloaded(error))
    sys.exit(code)


def _stopped(code: int) -> str:
    """Say what ended us, and what was paid, if we came so far."""
    receipts = sys.modules.get("dpselect.cli.receipts")
    return f"{interrupts.sentence(code)} {receipts.receipt() if receipts else ''}".rstrip()


def _unloaded(error: BaseException) -> str:
    return (
        f"dpselect must be loaded; it could not be ({type(error).__name__}). "
        "Free memory and file descriptors, or install dpselect anew."
    )


def _say(sentence: str) -> None:
    """Write to standard error with what is always there; if it is closed, there is no reader."""
    try:
        os.write(2, f"dpselect: {sentence}\n".encode())
    except OSError:
        return
