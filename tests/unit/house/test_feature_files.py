"""Feature files are read by people who do not program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FEATURES = Path(__file__).parents[2] / "features"
FILES = [path for path in sorted(FEATURES.rglob("*.feature")) if path.parent.name != "gateway"]
"""All but those of the gateway, which are about HTTP and JSON."""
CODES = re.compile(r'\{"|\{\}|\b[0-9a-f]{32,}\b|\b(?:answer|status) (?:is )?[1-5]\d\d\b')


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_steps_hold_no_json_no_hexadecimal_and_no_status_code(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    reports = [f"{path.name}:{number}: {line}" for number, line in enumerate(lines, 1) if CODES.search(line)]

    assert not reports, "say what the step means: " + "\n".join(reports)
