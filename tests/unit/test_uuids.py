"""UUIDs that are made for each message, against those of the standard library."""

import uuid

import pytest

from adapters.outbound.system.clock import new_uuid, url_uuid


@pytest.mark.parametrize("name", ["", "request#1.0", "https://example.com/ü", "x" * 1000])
def test_the_uuid_of_a_name_is_that_of_the_standard(name: str) -> None:
    assert url_uuid(name) == str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def test_a_random_uuid_is_in_canonical_form() -> None:
    made = [new_uuid() for _ in range(100)]

    assert len(set(made)) == len(made)
    for each in map(uuid.UUID, made):
        assert (each.version, each.variant) == (4, uuid.RFC_4122)
    assert made == [str(uuid.UUID(each)) for each in made]
