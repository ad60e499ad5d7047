"""``run.py``: one file that sets a checkout up, does it once, and says what to do when it cannot."""

import ast
import importlib.util
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import run

RUN_PY = Path(run.__file__)
NOTHING = [sys.executable, "-c", ""]
FAILURE = [sys.executable, "-c", "print('no such', 'index'); raise SystemExit(1)"]


def call(run_py: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, run_py, *words], cwd=cwd, check=False, capture_output=True, text=True
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing but a pyproject."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "dpselect"\ndependencies = ["numpy"]\n')
    return tmp_path


def installer(install: list[str], name: str = "pip") -> run.Installer:
    """An installer that makes a real, empty virtual environment and then does as told."""
    return run.Installer(name, [sys.executable, "-m", "venv", "--without-pip", ".venv"], install)


@pytest.mark.parametrize("words", [[], ["no-such-verb"], ["--help"]])
def test_a_call_without_a_known_verb_lists_them_all(words: list[str], tmp_path: Path) -> None:
    outcome = call(RUN_PY, *words, cwd=tmp_path)
    assert outcome.returncode == 2
    assert all(f"  {verb} " in outcome.stderr for verb in run.VERBS)


@pytest.mark.parametrize("words", [["reviewed"], ["reviewed", "a", "b"], ["lint", "src"], ["types", "src"]])
def test_a_verb_with_the_wrong_number_of_words_is_told_how_to_be_called(words: list[str]) -> None:
    assert f"Call: python3 run.py {words[0]}" in str(run.misreading(words))


def test_an_old_python_can_read_the_file() -> None:
    ast.parse(RUN_PY.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (2, 7, 18)])
def test_an_old_python_is_told_what_to_do(version: tuple[int, ...]) -> None:
    said = str(run.complaint(version))
    assert f"this is Python {'.'.join(map(str, version))}. Install a newer one" in said


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 0), (4, 0, 0)])
def test_a_python_that_is_new_enough_is_not_complained_of(version: tuple[int, ...]) -> None:
    assert run.complaint(version) is None


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_what_to_install(
    missing: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        return None if name == missing else ModuleSpec(name, None)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(run.SetupError, match=rf"module {missing} .* sudo apt install python3-venv"):
        run.installers(checkout)


def test_uv_is_preferred_and_pip_stands_behind_it(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/somewhere/{name}")
    assert [each.name for each in run.installers(checkout)] == ["uv", "pip"]
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert [each.name for each in run.installers(checkout)] == ["pip"]


def test_a_checkout_is_ready_once_it_is_set_up_and_not_before(checkout: Path) -> None:
    assert not run.is_ready(checkout, "dev")
    run.set_up(checkout, "dev", [installer(NOTHING)])
    assert run.is_ready(checkout, "dev")


def test_the_developers_extra_includes_the_rest_but_not_the_other_way_round(checkout: Path) -> None:
    run.set_up(checkout, "dev", [installer(NOTHING)])
    assert all(run.is_ready(checkout, extra) for extra in ("", "studio"))
    run.set_up(checkout, "studio", [installer(NOTHING)])
    assert [run.is_ready(checkout, extra) for extra in ("", "studio", "dev")] == [True, True, False]
    run.set_up(checkout, "", [installer(NOTHING)])
    assert not any(run.is_ready(checkout, extra) for extra in ("studio", "dev"))


def test_a_changed_dependency_is_installed_and_a_changed_lint_rule_is_not(checkout: Path) -> None:
    pyproject = checkout / "pyproject.toml"
    run.set_up(checkout, "dev", [installer(NOTHING)])
    pyproject.write_text(pyproject.read_text() + "[tool.ruff]\nline-length = 80\n")
    assert run.is_ready(checkout, "dev")
    pyproject.write_text(pyproject.read_text().replace('"numpy"', '"numpy>=2.2"'))
    assert not run.is_ready(checkout, "dev")


def test_another_python_or_a_moved_checkout_is_set_up_anew(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.set_up(checkout, "", [installer(NOTHING)])
    moved = checkout.with_name(f"{checkout.name}-moved")
    shutil.copytree(checkout, moved, symlinks=True)
    assert not run.is_ready(moved, "")
    monkeypatch.setattr(sys, "version", "another")
    assert not run.is_ready(checkout, "")


@pytest.mark.parametrize(("java", "installed"), [("/usr/bin/java", ".[dev,spark]"), (None, ".[dev]")])
def test_spark_is_installed_only_where_java_is_found(
    java: str | None, installed: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: java)
    assert (run.requirement("dev"), run.requirement("")) == (installed, ".")
    run.set_up(checkout, "dev", [installer(NOTHING)])
    assert run.is_ready(checkout, "dev")
    monkeypatch.setattr(shutil, "which", lambda _: None if java else "/usr/bin/java")
    assert not run.is_ready(checkout, "dev")


def test_a_venv_whose_python_is_gone_is_not_ready(checkout: Path) -> None:
    run.set_up(checkout, "", [installer(NOTHING)])
    run.python_in(checkout).unlink()
    assert not run.is_ready(checkout, "")


def test_an_installer_that_fails_gives_way_to_the_next(checkout: Path) -> None:
    run.set_up(checkout, "", [installer(FAILURE, "uv"), installer(NOTHING, "pip")])
    assert run.is_ready(checkout, "")
    assert run.read_stamp(checkout)["installer"] == "pip"


def test_when_all_installers_fail_their_words_are_shown_and_nothing_is_ready(checkout: Path) -> None:
    run.set_up(checkout, "", [installer(NOTHING)])
    with pytest.raises(run.SetupError, match="no such index"):
        run.set_up(checkout, "dev", [installer(FAILURE)])
    assert not run.is_ready(checkout, "")


def test_an_interrupted_installation_is_not_taken_for_a_finished_one(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    run.set_up(checkout, "", [installer(NOTHING)])
    monkeypatch.setattr(run, "watch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.set_up(checkout, "dev", [installer(NOTHING)])
    assert not run.is_ready(checkout, "")


def test_what_is_added_later_goes_into_the_same_venv(checkout: Path) -> None:
    run.set_up(checkout, "", [installer(NOTHING)])
    kept = checkout / ".venv/kept"
    kept.touch()
    run.set_up(checkout, "dev", [installer(NOTHING)])
    assert kept.exists()


def test_a_venv_that_was_left_unfinished_is_thrown_away(checkout: Path) -> None:
    leftover = checkout / ".venv/leftover"
    leftover.parent.mkdir()
    leftover.touch()
    run.set_up(checkout, "", [installer(NOTHING)])
    assert not leftover.exists()


def test_a_second_run_installs_nothing_and_works_from_any_folder(checkout: Path) -> None:
    run.set_up(checkout, "dev", [installer(NOTHING)])
    copy = Path(shutil.copy(RUN_PY, checkout))
    (checkout / "benchmarks").mkdir()
    (checkout / "benchmarks/__main__.py").write_text("import sys; print('measured', sys.argv[1:])")
    outcome = call(copy, "bench", "quickly", cwd=Path("/"))
    assert (outcome.returncode, outcome.stdout) == (0, "measured ['quickly']\n")


def test_the_exit_code_is_that_of_the_verb(checkout: Path) -> None:
    run.set_up(checkout, "dev", [installer(NOTHING)])
    copy = Path(shutil.copy(RUN_PY, checkout))
    (checkout / "benchmarks").mkdir()
    (checkout / "benchmarks/__main__.py").write_text("raise SystemExit(7)")
    assert call(copy, "bench", cwd=checkout).returncode == 7


def test_all_steps_run_and_the_last_line_says_which_failed(checkout: Path) -> None:
    run.set_up(checkout, "dev", [installer(NOTHING)])
    copy = Path(shutil.copy(RUN_PY, checkout))
    (checkout / "ruff.py").write_text("import sys; sys.exit('check' in sys.argv)")
    outcome = call(copy, "lint", cwd=checkout)
    assert outcome.returncode == 1
    assert outcome.stdout.splitlines()[-1] == "--- ruff check FAILED (0 s), ruff format ok (0 s)"


def test_the_last_line_counts_the_tests_that_were_skipped(checkout: Path) -> None:
    run.set_up(checkout, "dev", [installer(NOTHING)])
    copy = Path(shutil.copy(RUN_PY, checkout))
    for module in ("ruff", "mypy"):
        (checkout / f"{module}.py").touch()
    (checkout / "pytest.py").write_text(
        f"import os, pathlib; pathlib.Path(os.environ['{run.SKIPPED}']).write_text('7')"
    )
    outcome = call(copy, "test", cwd=checkout)
    assert outcome.stdout.splitlines()[-1] == (
        "--- ruff check ok (0 s), ruff format ok (0 s), mypy ok (0 s), "
        "pytest, exactness ok (0 s, 7 skipped), pytest, the rest ok (0 s, 7 skipped)"
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_skipped_tests_are_counted_with_and_without_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    skipped = tmp_path / "test_three.py"
    skipped.write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test(n):\n    pytest.skip('no server')\n"
    )
    shutil.copy(RUN_PY.parent / "tests/conftest.py", tmp_path)
    monkeypatch.setenv(run.SKIPPED, str(tmp_path / "count"))
    monkeypatch.setenv("PYTHONPATH", str(RUN_PY.parent))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers, str(skipped)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "count").read_text() == "3"


def test_tests_write_to_memory_only_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MEMORY", str(tmp_path))
    monkeypatch.setattr(run, "SPARE_BYTES", 1)
    assert run.fast_folder() == str(tmp_path)
    monkeypatch.setattr(run, "SPARE_BYTES", 1 << 70)
    assert run.fast_folder() is None
    monkeypatch.setattr(run, "MEMORY", str(tmp_path / "none"))
    assert run.fast_folder() is None


def test_coverage_is_asked_of_the_whole_run_and_not_of_a_part() -> None:
    *_, covered, others = run.planned("test", [])
    assert "--cov" in covered.arguments
    assert "--cov" not in others.arguments
    assert "--cov" not in run.planned("test", ["-k", "law"])[-1].arguments
    assert run.planned("test", ["-k", "law"])[-1].arguments[-2:] == ["-k", "law"]


def test_every_test_is_run_once_with_coverage_or_without() -> None:
    *_, covered, others = run.planned("test", [])
    parts = [word for word in covered.arguments if word.startswith(("src", "tests"))]
    assert [word for word in others.arguments if word.startswith("--ignore")] == [
        f"--ignore={part}" for part in parts
    ]
    assert all((RUN_PY.parent / part).exists() for part in parts)
