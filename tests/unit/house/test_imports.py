"""An idle process has not loaded what only some of its work needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATER = {"alembic", "numpy", "onnxruntime", "rich", "snowballstemmer", "torch", "unstructured", "pypdfium2"}
OF_OTHERS = {
    "psycopg",
    "sqlalchemy",
    "redis",
    "arq",
    "dependency_injector",
    "cryptography",
    "jinja2",
    "markdown_it",
}
"""What a gateway alone has no use for, or only where TLS is set or the console is opened."""


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [("apps.standalone.main", LATER), ("apps.http_gateway.main", LATER | OF_OTHERS)],
)
def test_a_program_loads_only_what_it_needs_to_start(program: str, unwanted: set[str]) -> None:
    script = f"import sys, {program}; print(*sorted({unwanted!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
