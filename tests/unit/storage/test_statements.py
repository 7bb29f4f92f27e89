"""The SQL files of the storage."""

import re
from pathlib import Path

from adapters.outbound.storage.queue import statements
from adapters.outbound.storage.queue.statements import LEASE_SECONDS, ROWS_PER_LEASE, SQL, read_statements

STORAGE = Path(statements.__file__).parents[1]


def test_each_statement_is_used_and_each_that_is_used_is_there() -> None:
    code = "\n".join(file.read_text() for file in STORAGE.rglob("*.py"))
    names = [
        name
        for file in STORAGE.rglob("*.sql")
        for name in re.findall(r"^-- name: (\w+)$", file.read_text(), re.M)
    ]
    assert len(names) == len(set(names))
    assert set(re.findall(r'SQL\["(\w+)"\]', code)) <= set(names)
    assert [name for name in names if f'"{name}"' not in code] == []


def test_comments_and_indentation_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text(
        "-- about the file\n\n-- name: one\n-- what it does\nSELECT 1,\n    2\n\n-- name: two\nSELECT 2\n"
    )
    assert read_statements(file) == {"one": "SELECT 1,\n2", "two": "SELECT 2"}


def test_values_are_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text("-- name: one\nSELECT {{ most }}\n")
    assert read_statements(file, most=5) == {"one": "SELECT 5"}


def test_a_lease_lasts_as_long_and_brings_as_much_as_the_code_says() -> None:
    for name in ("lease_events", "lease_messages"):
        assert f"interval '{LEASE_SECONDS} seconds'" in SQL[name]
        assert f"ORDER BY r.id LIMIT {ROWS_PER_LEASE}" in SQL[name]
    assert f"interval '{LEASE_SECONDS} seconds'" in SQL["renew_leases"]
