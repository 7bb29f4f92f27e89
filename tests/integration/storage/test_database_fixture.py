"""The database that each test gets."""

import psycopg
import pytest


@pytest.mark.parametrize("_round", [1, 2])
def test_each_test_has_a_database_of_its_own(database_url: str, _round: int) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE only_here (id int)")
        names = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
    assert {"vector", "pg_trgm"} <= names
