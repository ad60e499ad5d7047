"""Being asked to stop: Ctrl-C, SIGTERM and SIGHUP end a command alike, cleaned up and with a sentence.

What asks us to stop is remembered here, because an engine may swallow the exception and report a failure of
its own. Loaded before everything else, so it imports next to nothing.
"""

from __future__ import annotations

import _thread
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
LOADING, NATIVE = ("create_module", "exec_module"), "ExtensionFileLoader"
RETRY_DELAY, GRACE = 0.01, 1.0
"""Seconds: until a signal that came at a bad moment comes again; in which a second one stops no tidying."""


class Stopped(KeyboardInterrupt):
    """A signal asks us to stop.

    Of a class of its own: once a plain KeyboardInterrupt has passed through ``exec``, as within many imports,
    Python ends by a signal whatever exit code it was given.
    """


class _State:
    """What has happened in this process."""

    listened: set[int] = set()  # noqa: RUF012 - one state for the process
    number = 0
    deaf_until = 0.0
    holding = False
    kept = 0


class Held:
    """While it lasts, a first signal waits for the end; a second one does not wait."""

    def __enter__(self) -> None:
        stop_if_asked()
        _State.holding, _State.kept = True, 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Act on what came meanwhile."""
        _State.holding = False
        if _State.kept and kind is None:
            raise Stopped


def listen() -> None:
    """Listen to the signals, from now on; what the caller has us ignore (``nohup``) stays ignored."""
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
            _State.listened.add(number)
    sys.unraisablehook = _unraisable


def listen_again() -> None:
    """Listen to the signals as before, after a library has set handlers of its own."""
    for number in _State.listened:
        signal.signal(number, _stop)


def stop_listening() -> None:
    """Ignore the signals: all is done. What has come until now counts for the exit code."""
    _State.deaf_until = float("inf")
    while _State.listened:
        signal.signal(_State.listened.pop(), signal.SIG_IGN)


def stop_if_asked() -> None:
    """Stop if a signal has come before, whatever an engine has made of it."""
    if _State.number:
        raise Stopped


def exit_code() -> int:
    """Give the exit code of a command that was asked to stop: 128 and the signal; 0 if it was not asked."""
    listen_again()  # before it sets a handler, Python runs those of signals that have come
    return 128 + _State.number if _State.number else 0


def sentence(code: int) -> str:
    """Say what ended a command with this exit code."""
    number = code - 128
    name = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    return f"interrupted{name}."


def _stop(number: int, frame: FrameType | None) -> None:
    # Of signals that come together, the order is lost: the system and Python each sort them by number. So the
    # highest one counts, whenever it comes: SIGTERM over SIGINT over SIGHUP.
    _State.number = max(_State.number, number)
    now = time.monotonic()
    if _is_loading_native_code(frame):
        _thread.start_new_thread(_again, (number,))
        return
    if now < _State.deaf_until:
        return
    _State.deaf_until = now + GRACE
    if _State.holding:
        _State.kept += 1
        if _State.kept == 1:
            return
    raise Stopped


def _is_loading_native_code(frame: FrameType | None) -> bool:
    """Say whether a library in C++ is being loaded: an exception there may end the process by a crash."""
    while frame is not None:
        if frame.f_code.co_name in LOADING and type(frame.f_locals.get("self")).__name__ == NATIVE:
            return True
        frame = frame.f_back
    return False


def _again(number: int) -> None:
    """Come back a little later."""
    time.sleep(RETRY_DELAY)
    _thread.interrupt_main(signal.Signals(number))


def _unraisable(unraisable: sys.UnraisableHookArgs, /) -> None:
    """Say nothing, because a message may hold data; a signal that came in the wrong place comes again."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt) and _State.number:
        _State.deaf_until = 0.0
        _thread.start_new_thread(_again, (_State.number,))
