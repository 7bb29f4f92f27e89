"""Conversations in which a resource answers with rich content."""

from collections.abc import Iterator

import pytest

from tests.drivers.platform import PlatformDriver
from tests.drivers.world import World
from tests.features.rich_answers.scene import SETTINGS, Scene


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    request.module.SETTINGS = {name: driver.url + api for name, api in SETTINGS}
    yield driver
    driver.close()


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    made = Scene(world, platform_driver)
    yield made
    assert platform_driver.platform.faults == []
