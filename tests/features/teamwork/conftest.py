"""What the scenarios of working together begin with."""

import pytest

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import Scene


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, rest, platform_driver)
