"""The folder for spilled rows: removed by its owner, or by a later process once the owner is dead."""

from __future__ import annotations

import fcntl
import gc
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpselect.engines import private_folder
from dpselect.engines.private_folder import PrivateFolder, tidy

HOLDS = """
import sys, time
from dpselect.engines.private_folder import PrivateFolder
folder = PrivateFolder()
print(folder.path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def held_by_another() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_c4_a_folder_is_for_its_owner_alone_and_goes_with_its_use(place: Path) -> None:
    with PrivateFolder() as path:
        assert Path(path).parent == place
        assert Path(path).stat().st_mode & 0o777 == 0o700
        (Path(path) / "spilled").write_text("rows", encoding="utf-8")
    assert list(place.iterdir()) == []


def test_c4_what_a_killed_process_left_is_removed_and_what_a_living_one_uses_is_not(place: Path) -> None:
    (dead, left), (living, used) = held_by_another(), held_by_another()
    try:
        (left / "spilled").write_text("rows", encoding="utf-8")
        (left / "below").mkdir()
        dead.kill()
        dead.communicate()
        assert left.is_dir()
        tidy(str(place))
        assert not left.exists()
        assert used.is_dir()
    finally:
        living.kill()
        living.communicate()
    tidy(str(place))
    assert list(place.iterdir()) == []


def test_c4_the_first_folder_of_a_process_removes_what_others_left(place: Path) -> None:
    dead, left = held_by_another()
    dead.kill()
    dead.communicate()
    later, used = held_by_another()
    later.send_signal(signal.SIGKILL)
    later.communicate()
    assert not left.exists()
    assert list(place.iterdir()) == [used]


def test_c4_links_other_names_and_files_are_left_alone(place: Path) -> None:
    elsewhere = place / "results"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept", encoding="utf-8")
    (place / "dpselect-rows-abcdefgh").symlink_to(elsewhere)
    (place / "dpselect-rows-01234567").write_text("a file", encoding="utf-8")
    for name in (
        "dpselect-results",
        "dpselect-rows-mine",
        "dpselect-rows-abcdefgh.old",
        "dpselect-demo-abcdefgh",
    ):
        (place / name).mkdir()
    inside = place / "dpselect-rows-aaaaaaaa"
    inside.mkdir()
    (inside / "link").symlink_to(elsewhere)
    before = sorted(place.iterdir())
    tidy(str(place))
    assert sorted(place.iterdir()) == [path for path in before if path != inside]
    assert (elsewhere / "kept").read_text(encoding="utf-8") == "kept"


def test_c4_a_fork_does_not_remove_the_folder_of_its_parent() -> None:
    asked = (
        "import os, sys\nfrom dpselect.engines.private_folder import PrivateFolder\n"
        "folder = PrivateFolder()\nif os.fork() == 0:\n    sys.exit()\nos.wait()\n"
        "print(os.path.isdir(folder.path))"
    )
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_c4_a_folder_goes_with_the_process_at_the_latest(place: Path) -> None:
    asked = "from dpselect.engines.private_folder import PrivateFolder\nkept = PrivateFolder()"
    subprocess.run([sys.executable, "-c", asked], check=True)
    assert list(place.iterdir()) == []


def test_c4_those_who_make_folders_and_those_who_tidy_up_do_not_disturb_each_other(place: Path) -> None:
    """Four makers at once, each of which tidies up first: all of them find their folder in place."""
    asked = (
        "import os, tempfile\nfrom dpselect.engines import private_folder as p\n"
        "for _ in range(200):\n    p.tidy(tempfile.gettempdir())\n"
        "    with p.PrivateFolder() as path:\n        open(path + '/spilled', 'x').close()\n"
        "        p.tidy(tempfile.gettempdir())\n        assert os.path.isfile(path + '/spilled')\n"
    )
    makers = [subprocess.Popen([sys.executable, "-c", asked]) for _ in range(4)]
    until = time.monotonic() + 120
    assert [maker.wait(timeout=until - time.monotonic()) for maker in makers] == [0] * len(makers)
    assert list(place.iterdir()) == []


def before_the_next_lock(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another process act between the opening of a folder and its lock."""
    acts = [act]

    def flock(folder: int, how: int) -> None:
        if acts:
            acts.pop()()
        fcntl.flock(folder, how)

    ours = SimpleNamespace(flock=flock, LOCK_EX=fcntl.LOCK_EX, LOCK_NB=fcntl.LOCK_NB)
    monkeypatch.setattr(private_folder, "fcntl", ours)


@pytest.mark.parametrize("successor", ["a folder", "a link"])
def test_c4_what_takes_the_place_of_a_folder_before_it_is_locked_is_left_alone(
    successor: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, elsewhere = place / "dpselect-rows-abcdefgh", place / "elsewhere"
    left.mkdir()
    elsewhere.mkdir()

    def replaced() -> None:
        left.rename(place / "moved")
        left.mkdir() if successor == "a folder" else left.symlink_to(elsewhere)
        (left / "kept").write_text("kept", encoding="utf-8")

    before_the_next_lock(replaced, monkeypatch)
    tidy(str(place))
    assert (left / "kept").read_text(encoding="utf-8") == "kept"


def test_c4_a_folder_that_is_removed_before_it_is_locked_is_made_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_the_next_lock(lambda: next(place.iterdir()).rmdir(), monkeypatch)
    with PrivateFolder() as path:
        assert Path(path).is_dir()
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("step", ["_locked", "_must_be_there"])
def test_c4_an_interrupt_while_a_folder_is_made_leaves_none_behind(
    step: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(private_folder, step, interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        PrivateFolder()
    caught.value.__traceback__ = None
    del caught
    gc.collect()
    assert list(place.iterdir()) == []
