"""Feature files are read by people who do not program."""

import re
from collections import Counter
from pathlib import Path

FEATURES = Path(__file__).parents[2] / "features"
ALL_FILES = sorted(FEATURES.rglob("*.feature"))
FILES = [path for path in ALL_FILES if path.parent.name != "gateway"]
"""All but those of the gateway, which are about HTTP and JSON."""
TITLE = re.compile(r"^\s*Scenario(?: Outline)?: (.*?)\s*$", re.MULTILINE)
CODES = re.compile(r'\{"|\{\}|\b[0-9a-f]{32,}\b|\b(?:answer|status) (?:is )?[1-5]\d\d\b')


def test_steps_hold_no_json_no_hexadecimal_and_no_status_code() -> None:
    offenders = [
        f"{path.name}:{number}: {line}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if CODES.search(line)
    ]

    assert offenders == [], "say what the step means"


def test_scenarios_of_a_file_have_titles_of_their_own() -> None:
    """Of two scenarios with one title, pytest-bdd runs the last alone."""
    repeated = [
        f"{path.name}: {title}"
        for path in ALL_FILES
        for title, count in Counter(TITLE.findall(path.read_text(encoding="utf-8"))).items()
        if count > 1
    ]

    assert repeated == []
