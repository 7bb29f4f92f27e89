"""The SQL file of the queue."""

import re
from pathlib import Path

from adapters.outbound.storage.queue import statements
from adapters.outbound.storage.queue.statements import LEASE_SECONDS, ROWS_PER_LEASE, SQL, read_statements

STORAGE = Path(statements.__file__).parents[1]


def test_each_statement_is_used_and_each_that_is_used_is_there() -> None:
    code = "\n".join(file.read_text() for file in STORAGE.rglob("*.py"))
    assert set(re.findall(r'SQL\["(\w+)"\]', code)) == set(SQL)


def test_comments_and_indentation_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text(
        "-- about the file\n\n-- name: one\n-- what it does\nSELECT 1,\n    2\n\n-- name: two\nSELECT 2\n"
    )
    assert read_statements(file) == {"one": "SELECT 1,\n2", "two": "SELECT 2"}


def test_a_lease_lasts_as_long_and_brings_as_much_as_the_code_says() -> None:
    for name in ("lease_events", "lease_messages"):
        assert f"interval '{LEASE_SECONDS} seconds'" in SQL[name]
        assert f"ORDER BY r.id LIMIT {ROWS_PER_LEASE}" in SQL[name]
    assert f"interval '{LEASE_SECONDS} seconds'" in SQL["renew_leases"]
