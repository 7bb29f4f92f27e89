"""What one process changes about keys, users and permissions holds in another one, which has looked before."""

from collections.abc import Callable, Iterator

import pytest

from apps.compose.container import Container
from domain.access.model import Caller, Role, TeamChange, TeamMember, UserState
from domain.access.sharing import Grantee, InstanceLevel, Level
from domain.agents.model import AgentDefinition
from domain.instances.model import NewInstance
from domain.refusals import Forbidden, Unauthenticated
from domain.routing.resource import parse_resource
from domain.use_cases import UseCases
from ports.access import UserChange
from tests.drivers.world import World
from tests.support.database import opened
from tests.support.waiting import until

WORKER = False
ADAM, ANN = Caller("adam", Role.ADMIN), Caller("ann")


class Scene:
    """`here`: the process that changes; `other`: the one that has looked before. Bob's level on the instance of ann
    is that of his team, on her agent it is his own."""

    def __init__(self, world: World, other: Container) -> None:
        self.world, self.other = world, other
        self.here: UseCases = world.container.use_cases()
        storage = world.container.storage()
        self.key = world.key_of("bob")
        world.key_of("ann")
        bob = TeamMember("bob")
        self.team = world.run(self.here.teams.create(ADAM, "Help", [bob])).id
        new = NewInstance("http-webhook", "Support", {})
        self.instance = world.run(storage.instances.add("ann", new)).id
        grantee = Grantee(team_id=self.team)
        world.run(self.here.instances.set_permission(ANN, self.instance, grantee, InstanceLevel.VIEW))
        definition = AgentDefinition("http", {"url": "https://agents.example.com"})
        agent = world.run(storage.agents.add("ann", "helper", "Helper", definition, ["bob"], 10))
        assert agent is not None
        self.agent = agent.id

    def caller(self) -> Caller:
        return self.world.run(self.other.access().authenticate(self.key))

    def look(self) -> None:
        """What bob may do, as the other process sees it."""
        self.world.run(self.other.use_cases().instances.get(self.caller(), self.instance))

    def may_use_agent(self) -> bool:
        agents = self.other.resources().agents
        return self.world.run(agents.rule(parse_resource("agent::helper"), "bob")) is not None

    def owner(self) -> str:
        instance = self.world.run(self.other.storage().instances.cached(self.instance))
        assert instance is not None
        return instance.user_id


@pytest.fixture
def scene(world: World) -> Iterator[Scene]:
    container = Container(settings=world.settings, dsn=world.container.dsn(), solitary=False)
    opening = opened(container.database())
    world.run(opening.__aenter__())
    world.run(container.storage().signals.start())
    scene = Scene(world, container)
    scene.look()
    assert scene.may_use_agent()
    assert scene.owner() == "ann"
    yield scene
    world.run(container.storage().signals.stop())
    world.run(opening.__aexit__(None, None, None))


def suspend(scene: Scene) -> None:
    scene.world.run(scene.here.users.change(ADAM, "bob", UserChange(state=UserState.SUSPENDED)))


def revoke_key(scene: Scene) -> None:
    [key] = scene.world.run(scene.here.keys.list(Caller("bob"), "key", 0, 10)).items
    scene.world.run(scene.here.keys.revoke(ADAM, key.id))


def delete_user(scene: Scene) -> None:
    scene.world.run(scene.here.users.delete(ADAM, "bob", None))


def take_permission(scene: Scene) -> None:
    grantee = Grantee(team_id=scene.team)
    scene.world.run(scene.here.instances.set_permission(ANN, scene.instance, grantee, InstanceLevel.NONE))


def take_out_of_team(scene: Scene) -> None:
    scene.world.run(scene.here.teams.change(ADAM, scene.team, TeamChange(members=())))


def delete_team(scene: Scene) -> None:
    scene.world.run(scene.here.teams.delete(ADAM, scene.team))


@pytest.mark.parametrize("change", [suspend, revoke_key, delete_user])
def test_a_key_that_ends_is_refused_at_once(scene: Scene, change: Callable[[Scene], None]) -> None:
    change(scene)
    with pytest.raises(Unauthenticated):
        scene.look()


@pytest.mark.parametrize("change", [take_permission, take_out_of_team, delete_team])
def test_a_permission_that_ends_is_refused_at_once(scene: Scene, change: Callable[[Scene], None]) -> None:
    change(scene)
    with pytest.raises(Forbidden):
        scene.look()


def test_a_role_counts_at_once(scene: Scene) -> None:
    scene.world.run(scene.here.users.change(ADAM, "bob", UserChange(role=Role.RESPONDER)))
    assert scene.caller().role is Role.RESPONDER


def test_an_agent_that_is_no_longer_shared_is_forgotten(scene: Scene) -> None:
    scene.world.run(scene.here.agents.set_permission(ANN, scene.agent, Grantee("bob"), Level.NONE))
    until(lambda: not scene.may_use_agent(), "the other process has read the agents again")


def test_an_instance_that_was_handed_over_is_forgotten(scene: Scene) -> None:
    scene.world.run(scene.here.users.delete(ADAM, "ann", "bob"))
    until(lambda: scene.owner() == "bob", "the other process has read the instance again")
