"""Fixtures that the whole suite shares."""

import asyncio
import gc
import re
import signal
from collections.abc import Callable, Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from adapters.outbound.storage import pool
from tests.support.exported import exported
from tests.support.folders import open_folder
from tests.support.loops import Loops
from tests.support.postgres import database_url, postgres_dsn
from tests.support.redis import own_redis, redis_server, redis_url

__all__ = [
    "database_url",
    "exported",
    "open_folder",
    "own_redis",
    "postgres_dsn",
    "redis_server",
    "redis_url",
]

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# Hypothesis draws constants that stand in the modules loaded so far: with them, examples would differ with the tests
# that the same process ran before.
providers._get_local_constants = lambda: providers._local_constants

asyncio.set_event_loop_policy(Loops())


pool.PATIENCE = 60.0  # on a busy machine a database may take its time to take a connection


# A shell that starts the suite in the background makes it ignore SIGINT, and every process that it starts: but some
# tests interrupt theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leaves the collected tests to no garbage collection: they stay until the end."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test logged may hold half a surrogate pair, which a report cannot carry from one process to another."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def pytest_bdd_apply_tag(tag: str, function: Callable[..., Any]) -> bool | None:
    """Turns a tag that names a part of the contract (@s3.3) into the marker `contract("s3.3")`."""
    if re.fullmatch(r"s\d+(\.\d+)*", tag) is None:
        return None
    pytest.mark.contract(tag)(function)
    return True
