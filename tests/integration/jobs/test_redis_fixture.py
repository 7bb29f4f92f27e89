"""The Redis that tests get."""

from redis import Redis


def test_it_is_empty_and_new_enough(redis_url: str) -> None:
    with Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        version = tuple(int(part) for part in client.info()["redis_version"].split("."))
        client.set("left", "behind")
    assert version >= (6, 2)


def test_what_another_test_left_is_gone(redis_url: str) -> None:
    with Redis.from_url(redis_url) as client:
        assert client.get("left") is None
