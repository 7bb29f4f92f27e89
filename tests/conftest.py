"""Fixtures that the whole suite shares."""

import asyncio
import functools
import gc
import re
import signal
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any

import pytest
from _pytest.fixtures import FixtureManager
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from pytest_bdd.parser import Step

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


steps = import_module("pytest_bdd.scenario")  # the package has a function of that name


@functools.cache
def visible_steps(manager: FixtureManager, module: pytest.Module) -> list[pytest.FixtureDef[object]]:
    """The definitions of steps that scenarios of a module may use."""
    return [
        definition
        for name in steps.get_fixture_names(fixturemanager=manager)
        for definition in steps.getfixturedefs(manager, name, module) or ()
        if definition.func in steps.step_function_context_registry
    ]


def definitions_of_step(
    step: Step, fixturemanager: FixtureManager, node: pytest.Item
) -> Iterator[pytest.FixtureDef[object]]:
    """As in pytest-bdd, but without asking pytest for every fixture of the suite at each step, half of the time."""
    module = node.getparent(pytest.Module)
    assert module is not None
    for definition in visible_steps(fixturemanager, module):
        context = steps.step_function_context_registry[definition.func]
        if context.type in (None, step.type) and context.parser.is_matching(step.name):
            yield definition


steps.find_fixturedefs_for_step = definitions_of_step

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
