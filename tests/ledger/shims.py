"""Shims: small libraries that are loaded before the C library, and watch or fail what a process writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def compiled(name: str, folder: Path) -> Path:
    """Compile the shim of a name into a folder."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("install a C compiler, on Linux: it makes the shim of a disk")
    made = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made
