"""The steps of invitations.feature, over both gateways."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.core_client.use_cases import remote_use_cases
from domain.access.model import Role, Session
from domain.access.sessions import Browser
from domain.refusals import Invalid, NotFound, Refusal
from domain.use_cases import UseCases
from tests.drivers.ways import Rest, RestOverGrpc
from tests.drivers.world import World

WORKER = False
scenarios("invitations.feature")

INVITATIONS = "/api/agent/invitations"
BROWSER = Browser("192.0.2.1", "Mozilla/5.0 (X11; Linux) Firefox/131.0")


class Scene:
    def __init__(self, world: World, rest: Rest, use_cases: UseCases) -> None:
        self.world, self.rest, self.use_cases = world, rest, use_cases
        self.reply: httpx.Response | None = None
        self.team = 0
        self.link = ""
        self.invitation = 0
        self.session: Session | None = None
        self.refusal: Refusal | None = None

    def invite(self, user: str, email: str, **fields: Any) -> None:
        self.reply = self.rest.request("POST", INVITATIONS, user, json={"email": email, **fields})
        if self.reply.status_code == 201:
            body = self.reply.json()
            self.link, self.invitation = body["link"], body["invitation"]["id"]

    def listed(self) -> dict[str, Any]:
        reply = self.rest.request("GET", INVITATIONS, "admin")
        return {entry["email"]: entry for entry in reply.json()["invitations"]}

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.link).query)["token"][0]


@pytest.fixture
def scene(world: World, rest: Rest) -> Iterator[Scene]:
    if not isinstance(rest, RestOverGrpc):
        yield Scene(world, rest, world.container.use_cases())
        return

    async def remote() -> UseCases:
        return remote_use_cases(core, RemoteCallbacks(core))

    core = CoreConnection(f"127.0.0.1:{world.grpc.port}", service_key=world.settings.internal_service_key)
    yield Scene(world, rest, world.run(remote()))
    world.run(core.close())


@given(parsers.parse('there is a team "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.team = scene.rest.request("POST", "/api/agent/teams", "admin", json={"name": name}).json()["id"]


@given(parsers.parse('there is a user "{user}" with the address "{email}"'))
def _(scene: Scene, user: str, email: str) -> None:
    scene.rest.request("POST", "/api/agent/users", "admin", json={"id": user, "email": email})


@when(parsers.parse('admin invites "{email}" as a responder into that team'))
def _(scene: Scene, email: str) -> None:
    scene.invite("admin", email, role="responder", teams=[scene.team])


@given(parsers.parse('admin invites "{email}" as a member'))
def _(scene: Scene, email: str) -> None:
    scene.invite("admin", email)


@when("admin invites the same address once more")
def _(scene: Scene) -> None:
    link = scene.link
    scene.invite("admin", "ann@example.com")
    assert scene.link != link
    scene.link = link


@when(parsers.re(r'(?P<user>admin|bob) invites "(?P<email>[^"]+)"( into the team (?P<team>\d+))?'))
def _(scene: Scene, user: str, email: str, team: str | None) -> None:
    scene.invite(user, email, teams=[int(team)] if team else [])


@when("bob lists the invitations")
def _(scene: Scene) -> None:
    scene.reply = scene.rest.request("GET", INVITATIONS, "bob")


@when(parsers.re(r"(?P<user>admin|bob) withdraws (it|the invitation)"))
def _(scene: Scene, user: str) -> None:
    scene.reply = scene.rest.request("DELETE", f"{INVITATIONS}/{scene.invitation}", user)


@when("8 days pass")
def _(scene: Scene) -> None:
    scene.world.clock.advance(timedelta(days=8))


@when(parsers.parse('somebody accepts it with the name "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.session = scene.refusal = None
    invitations = scene.use_cases.invitations
    try:
        scene.world.run(invitations.look(scene.token))
        scene.session = scene.world.run(invitations.accept(scene.token, name, BROWSER))
    except Refusal as refusal:
        scene.refusal = refusal


@when("somebody asks for a link by mail")
def _(scene: Scene) -> None:
    assert not scene.world.run(scene.use_cases.mail_links.is_offered())
    try:
        scene.world.run(scene.use_cases.mail_links.send("ann@example.com", "", BROWSER))
    except Refusal as refusal:
        scene.refusal = refusal


@then("the answer has the link")
def _(scene: Scene) -> None:
    assert scene.reply is not None
    assert scene.reply.status_code == 201, scene.reply.text
    assert scene.link.startswith(f"{scene.world.settings.agent_url}/console/invitation?token=")


@then(
    parsers.re(
        r'they are signed in as the user "(?P<user>[^"]+)", a (?P<role>\w+) in (no team|the team "(?P<team>\w+)")'
    )
)
def _(scene: Scene, user: str, role: str, team: str | None) -> None:
    assert scene.session is not None, scene.refusal
    caller = scene.world.run(scene.use_cases.access.authenticate_session(scene.session.token))
    assert (caller.user_id, caller.role) == (user, Role(role))
    teams = scene.world.run(scene.world.container.storage().teams.list(user, 0, 10))
    assert [place.name for place in teams] == ([team] if team else [])


@then(parsers.re(r'the list says that "(?P<email>[^"]+)" (?P<accepted>accepted|did not accept)'))
def _(scene: Scene, email: str, accepted: str) -> None:
    entry = scene.listed()[email]
    assert bool(entry["acceptedAt"]) is (accepted == "accepted")
    assert entry["userId"] == (email if accepted == "accepted" else None)


@then("they are told that it is not open")
def _(scene: Scene) -> None:
    assert isinstance(scene.refusal, NotFound)


@then(parsers.parse('there is no user "{user}"'))
def _(scene: Scene, user: str) -> None:
    assert scene.world.run(scene.world.container.storage().users.find(user)) is None


@then("that is forbidden")
def _(scene: Scene) -> None:
    assert scene.reply is not None
    assert scene.reply.status_code == 403


@then(parsers.parse('that is refused, naming "{field}"'))
def _(scene: Scene, field: str) -> None:
    assert scene.reply is not None
    assert scene.reply.status_code in (400, 409)
    assert field in scene.reply.json()["error"]


@then("that is refused, as mail is not set up")
def _(scene: Scene) -> None:
    assert isinstance(scene.refusal, Invalid)
    assert "mail is not set up" in scene.refusal.message


@then(parsers.parse('the audit log has "{created}" by admin, "{accepted}" and "{opened}" by "{user}"'))
def _(scene: Scene, created: str, accepted: str, opened: str, user: str) -> None:
    entries = scene.rest.request("GET", "/api/agent/audit?limit=3", "admin").json()["entries"]
    shown = [(entry["action"], entry["actor"]["userId"]) for entry in reversed(entries)]
    assert shown == [(created, "admin"), (accepted, user), (opened, user)]
    assert entries[0]["actor"]["address"]
    assert re.fullmatch(r"session:\d+", entries[0]["object"])
