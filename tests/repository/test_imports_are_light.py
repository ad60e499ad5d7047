"""Importing the package costs no more than it must."""

import json
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"

# Asked of a fresh Python: which packages, other than ours and the standard library, does a statement load?
# Names without a file are left out: Cython makes such modules for its own bookkeeping.
QUESTION = """
import json, sys
before = set(sys.modules)
{statement}
tops = {{name.split(".")[0] for name in set(sys.modules) - before}}
tops -= sys.stdlib_module_names
print(json.dumps(sorted(name for name in tops if getattr(sys.modules.get(name), "__file__", None))))
"""


def packages_loaded_by(statement: str) -> set[str]:
    asked = [sys.executable, "-c", QUESTION.format(statement=statement)]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True)
    return set(json.loads(answer.stdout)) - {"dpselect"}


def modules_in(part: str) -> list[str]:
    files = sorted((SOURCE / "dpselect" / part).glob("**/*.py"))
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]


def test_importing_dpselect_loads_no_other_package() -> None:
    assert packages_loaded_by("import dpselect") == set()


def test_listing_the_public_names_loads_no_other_package() -> None:
    assert packages_loaded_by("import dpselect; dir(dpselect); dpselect.__version__") == set()


def test_the_core_loads_numpy_and_flint_and_nothing_else() -> None:
    core = [*modules_in("exact"), *modules_in("privacy"), *modules_in("audit")]
    assert packages_loaded_by(f"import {', '.join(core)}") == {"numpy", "flint"}


def test_problems_and_tables_load_no_engine() -> None:
    guests = (
        *("comparisons", "csv", "database", "duckdb", "files", "folded", "frames", "group", "json", "pandas"),
        *("number", "parquet", "partitions", "postgres", "priorities", "queries", "row", "shapes", "spark"),
        *("several", "standard", "text", "where"),
    )
    hosts = [
        name for name in modules_in("engines") if name.rpartition(".")[2].partition("_")[0] not in guests
    ]
    assert packages_loaded_by(f"import {', '.join([*hosts, *modules_in('problems')])}") == {"numpy"}


def test_a_package_that_is_loaded_is_noticed() -> None:
    assert packages_loaded_by("import mpmath") >= {"mpmath"}
