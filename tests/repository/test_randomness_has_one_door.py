"""The randomness of the system comes in through ``exact/randomness.py`` and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
THE_DOOR = CHECKOUT / "src/dpselect/exact/randomness.py"
NUMPYS_GENERATOR = {
    CHECKOUT / "benchmarks" / name
    for name in ("numpy_one_liner.py", "joint_quantiles.py", "quantile_data.py")
}
"""What we are measured against, and made-up data, come from numpy.random; nothing of ours draws from it."""
FILES = [
    *sorted(
        {*CHECKOUT.glob("src/**/*.py"), *CHECKOUT.glob("benchmarks/**/*.py")} - {THE_DOOR, *NUMPYS_GENERATOR}
    ),
    CHECKOUT / "run.py",
]

MODULES = {"random", "secrets", "numpy.random"}
FUNCTIONS = {"urandom", "getrandom", "RAND_bytes"}


def is_closed(name: str) -> bool:
    """Tell whether a dotted name is, or lies in, a module of randomness, or ends in a function of it."""
    last = name.rpartition(".")[2]
    return last in FUNCTIONS or any(f"{name}.".startswith(f"{module}.") for module in MODULES)


def doors(source: str) -> list[str]:
    """List the names in the source through which randomness could come in."""
    tree = ast.parse(source)
    aliases = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return [name for node in ast.walk(tree) for name in names_in(node, aliases) if is_closed(name)]


def names_in(node: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """Yield the full names that one node imports, reaches into, or spells as text in a call."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (f"{module}.{alias.name}" for alias in names)
            if module == "os" and names[0].name == "*":
                yield "os.urandom"
        case ast.Attribute(value=value, attr=attribute):
            owner = ast.unparse(value)
            yield f"{aliases.get(owner, owner)}.{attribute}"
        case ast.Call(args=arguments):
            for argument in arguments:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value.replace("/dev/", "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_no_other_file_touches_the_randomness_of_the_system(path: Path) -> None:
    assert doors(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(NUMPYS_GENERATOR), ids=lambda path: path.name)
def test_what_a_benchmark_compares_with_uses_numpys_generator_alone(path: Path) -> None:
    assert {name.removesuffix(".Generator") for name in doors(path.read_text(encoding="utf-8"))} == {
        "numpy.random"
    }


def test_the_door_opens_on_os_urandom_alone() -> None:
    assert set(doors(THE_DOOR.read_text(encoding="utf-8"))) == {"os.urandom"}


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import random as dice",
        "from random import SystemRandom",
        "def f():\n    import random",
        "import secrets",
        "from secrets import randbits",
        "import os\nos.urandom(8)",
        "import os as system\nsystem.urandom(8)",
        "import os\nos.getrandom(8)",
        "from os import urandom",
        "from os import urandom as noise",
        "from os import *",
        "import posix\nread = posix.urandom",
        "import ssl\nssl.RAND_bytes(8)",
        "import numpy.random",
        "import numpy.random as npr",
        "from numpy import random",
        "from numpy import random as npr",
        "from numpy.random import default_rng",
        "import numpy\nnumpy.random.default_rng()",
        "import numpy as np\nnp.random.gumbel()",
        "import numpy as np\nnoise = np.random",
        "from importlib import import_module\nimport_module('random')",
        "__import__('secrets')",
        "import os\ngetattr(os, 'urandom')(8)",
        "open('/dev/urandom', 'rb')",
    ],
)
def test_every_way_around_the_door_is_found(source: str) -> None:
    assert doors(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.fork()",
        "import numpy as np\nnp.exp(1)",
        "from dpselect.exact.randomness import Randomness, system",
        "from dpselect.exact import randomness\nrandomness.system()",
        "def draw(randomness):\n    return randomness.word()",
    ],
)
def test_code_that_is_handed_its_randomness_is_left_alone(source: str) -> None:
    assert doors(source) == []
