"""What the features of conversations begin with."""

import pytest
from pytest_bdd import given, parsers, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import Scene


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, rest, platform_driver)


@given("a bot of ann that repeats what it hears")
def parrot(scene: Scene) -> None:
    scene.create("ann")


@given("a bot of ann whose resource fails")
def failing(scene: Scene) -> None:
    scene.create("ann")
    scene.fails = True


@given("a bot of ann whose platform refuses answers")
def refusing(scene: Scene) -> None:
    scene.create("ann")
    scene.platform.refuse["sendMessage"] = "Bad Request: chat not found"


@when("the resource works again")
def works(scene: Scene) -> None:
    scene.fails = False


@when("the platform takes answers again")
def takes(scene: Scene) -> None:
    scene.platform.refuse.clear()


@when(parsers.re(r'(?P<who>ada|bert) writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)
    if scene.resource.hold is None:
        scene.settle()
