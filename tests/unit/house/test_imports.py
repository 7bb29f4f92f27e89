"""An idle process has not loaded what only some of its work needs."""

import subprocess
import sys

import pytest

LATER = {"alembic", "numpy", "onnxruntime", "pypdfium2", "snowballstemmer", "torch", "unstructured"}
OF_OTHERS = {
    "psycopg",
    "sqlalchemy",
    "redis",
    "arq",
    "dependency_injector",
    "jinja2",
    "markdown_it",
}
"""What a gateway alone has no use for, or only where TLS is set or the console is opened."""


def printed(script: str) -> list[str]:
    """The words that a process of its own prints, which has loaded nothing else."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("apps.processes.standalone", LATER),
        ("apps.http_gateway.main", LATER | OF_OTHERS),
        ("apps.grpc_server.main, apps.processes.worker", LATER | {"uvicorn"}),
    ],
)
def test_a_program_loads_only_what_it_needs_to_start(program: str, unwanted: set[str]) -> None:
    assert printed(f"import sys, {program}; print(*sorted({unwanted!r} & set(sys.modules)))") == []
