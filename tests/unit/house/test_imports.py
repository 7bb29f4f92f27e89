"""An idle process has not loaded what only some of its work needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATER = {
    "aiohttp",
    "alembic",
    "jwt",
    "numpy",
    "onnxruntime",
    "pydantic.v1",
    "pypdfium2",
    "rich",
    "snowballstemmer",
    "torch",
    "unstructured",
    "yaml",
}
OF_REST = {"fastapi", "starlette", "uvicorn"}
"""What a core or a worker has no use for."""
OF_OTHERS = {
    "psycopg",
    "sqlalchemy",
    "redis",
    "arq",
    "dependency_injector",
    "jinja2",
    "markdown_it",
    "nacl",
}
"""What a gateway alone has no use for, or only where TLS is set or the console is opened."""


def printed(script: str) -> list[str]:
    """The words that a process of its own prints, which has loaded nothing else."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("apps.standalone.service", LATER),
        ("apps.http_gateway.main", LATER | OF_OTHERS),
        ("apps.grpc_server.main", LATER | OF_REST),
        ("apps.worker.main", LATER | OF_REST),
    ],
)
def test_a_program_loads_only_what_it_needs_to_start(program: str, unwanted: set[str]) -> None:
    script = (
        "import sys, apps.cli; from apps.loading import quickly\n"
        f"with quickly(): import {program}\n"
        f"print(*sorted({unwanted!r} & set(sys.modules)))"
    )
    assert printed(script) == []


def test_models_of_requests_are_built_when_they_are_first_used() -> None:
    script = (
        "from adapters.inbound.rest import app, bodies;"
        "made = [kind for base in (bodies.Body, bodies.StrictBody, bodies.Answer) for kind in base.__subclasses__()];"
        "assert len(made) > 50;"
        "print(*(kind.__name__ for kind in made if kind.__pydantic_complete__))"
    )
    assert printed(script) == []


def test_a_command_is_loaded_without_going_through_what_stays() -> None:
    script = (
        "import gc; from apps.loading import quickly;\n"
        "with quickly(): print(gc.isenabled())\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    assert printed(script) == ["False", "True", "True"]


def test_a_postponed_module_is_loaded_by_the_first_use_of_a_name() -> None:
    script = (
        "import sys; from adapters.optional_modules import postponed\n"
        "with postponed('colorsys'): import colorsys\n"
        "print('colorsys' in sys.modules, colorsys.rgb_to_hsv(0, 0, 0)[2], 'colorsys' in sys.modules)"
    )
    assert printed(script) == ["False", "0", "True"]


def test_a_fault_of_a_postponed_module_is_told_by_each_use() -> None:
    script = (
        "from adapters.optional_modules import postponed\n"
        "with postponed('no_such_module'): import no_such_module\n"
        "for _ in range(2):\n"
        "    try: no_such_module.name\n"
        "    except ModuleNotFoundError as error: print(error.name)"
    )
    assert printed(script) == ["no_such_module", "no_such_module"]
