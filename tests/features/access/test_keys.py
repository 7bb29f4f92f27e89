"""The steps of keys.feature, over both gateways."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.core_client.use_cases import remote_use_cases
from adapters.outbound.storage.retention import Retention, Times
from domain.access.model import Caller, CreatedKey, NewKey, Role, Session
from domain.access.service import AccessService, KeyService, SessionService
from domain.refusals import Refusal, TooMany, Unauthenticated
from domain.use_cases import UseCases
from tests.drivers.ways import Rest, RestOverGrpc
from tests.drivers.world import World

WORKER = False
scenarios("keys.feature")

KEYS = "/api/agent/keys"
ADDRESS, ELSEWHERE = "192.0.2.1", "192.0.2.2"
STATUS = {"forbidden": 403, "not found": 404}


class Scene:
    def __init__(
        self, world: World, rest: Rest, sessions: SessionService, access: AccessService, keys: KeyService
    ) -> None:
        self.world, self.rest, self.sessions, self.access, self.keys = world, rest, sessions, access, keys
        self.reply: httpx.Response | None = None
        self.session: Session | None = None
        self.refusal: Refusal | None = None
        self.link = ""
        self.tokens: list[str] = []
        self.created: CreatedKey | None = None

    def make(self, user: str, **fields: Any) -> None:
        self.reply = self.rest.request("POST", KEYS, user, json=fields)

    def listed(self, user: str, query: str = "") -> dict[str, Any]:
        return dict(self.rest.request("GET", KEYS + query, user).json())

    def revoke(self, user: str, key: int) -> None:
        self.reply = self.rest.request("DELETE", f"{KEYS}/{key}", user)

    def made(self) -> dict[str, Any]:
        assert self.reply is not None
        assert self.reply.status_code == 201, self.reply.text
        return dict(self.reply.json())

    def sign_in(self, credential: str, address: str = ADDRESS) -> None:
        self.session = self.refusal = None
        try:
            self.session = self.world.run(self.sessions.sign_in(credential, address))
        except Refusal as refusal:
            self.refusal = refusal

    def owner_of_session(self) -> Caller | None:
        """Who has the session, None if it is over."""
        assert self.session is not None, self.refusal
        try:
            return self.world.run(self.access.authenticate_session(self.session.token))
        except Unauthenticated:
            return None

    def make_with(self, token: str, **fields: Any) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self.reply = self.rest.request("POST", KEYS, headers=headers, json=fields)

    def owners(self, token: str) -> set[str] | None:
        """Whose objects are listed with this token; None where it is refused."""
        reply = self.rest.request("GET", KEYS, headers={"authorization": f"Bearer {token}"})
        assert reply.status_code in (200, 401), reply.text
        return {key["userId"] for key in reply.json()["keys"]} if reply.status_code == 200 else None


@pytest.fixture
def scene(world: World, rest: Rest) -> Iterator[Scene]:
    if not isinstance(rest, RestOverGrpc):
        use_cases = world.container.use_cases()
        yield Scene(world, rest, use_cases.sessions, use_cases.access, use_cases.keys)
        return

    async def remote() -> UseCases:
        return remote_use_cases(core, RemoteCallbacks(core))

    key = world.settings.internal_service_key
    core = CoreConnection(f"127.0.0.1:{world.grpc.port}", service_key=key)
    use_cases = world.run(remote())
    yield Scene(world, rest, use_cases.sessions, use_cases.access, use_cases.keys)
    world.run(core.close())


@given(parsers.parse('{user} makes a key called "{name}"'))
@when(parsers.parse('{user} makes a key called "{name}"'))
def makes(scene: Scene, user: str, name: str) -> None:
    scene.make(user, name=name)
    scene.made()


@given("ann makes a key that expires in 30 days")
def makes_expiring(scene: Scene) -> None:
    scene.make("ann", expiresInDays=30)
    scene.made()


@given("ann makes 3 keys")
def makes_three(scene: Scene) -> None:
    for name in "abc":
        scene.make("ann", name=name)


@when("ann makes a key with the role admin")
def makes_admin(scene: Scene) -> None:
    scene.make("ann", role="admin")


@when(parsers.parse("{user} makes a key for bob"))
def makes_for_bob(scene: Scene, user: str) -> None:
    scene.make(user, userId="bob")


MISTAKES = {
    "a name of 101 signs": {"name": "x" * 101},
    "no day of life": {"expiresInDays": 0},
    "another kind of role": {"role": "owner"},
    "a misspelt end of life": {"expiresInDay": 1},
}


@when(parsers.re(f"ann makes a key with (?P<mistake>{'|'.join(MISTAKES)})"))
def makes_wrongly(scene: Scene, mistake: str) -> None:
    scene.make("ann", **MISTAKES[mistake])


@then(parsers.parse('that is refused, naming "{field}"'))
def refused(scene: Scene, field: str) -> None:
    assert scene.reply is not None
    assert scene.reply.status_code == 400
    assert field in scene.reply.json()["error"]


@when(parsers.parse("{user} revokes that key"))
def revokes(scene: Scene, user: str) -> None:
    token = scene.made()["token"]
    scene.link = token
    scene.revoke(user, scene.made()["key"]["id"])


@when("ann revokes a key that does not exist")
def revokes_nothing(scene: Scene) -> None:
    scene.revoke("ann", 4711)


@then(parsers.re("the new key works, and it is (?P<user>ann|bob)'s"))
def works(scene: Scene, user: str) -> None:
    assert scene.owners(scene.made()["token"]) == {user}


@then("the new key works no longer")
def works_no_longer(scene: Scene) -> None:
    token = scene.link or scene.made()["token"]
    assert scene.owners(token) is None


@then(parsers.re("that is (?P<outcome>forbidden|not found)"))
def outcome(scene: Scene, outcome: str) -> None:
    assert scene.reply is not None
    assert scene.reply.status_code == STATUS[outcome], scene.reply.text


@then(parsers.parse('ann\'s list names "{name}" and shows no key whole'))
def list_names(scene: Scene, name: str) -> None:
    answer = scene.listed("ann")
    assert [key["name"] for key in answer["keys"]] == ["", name]
    assert scene.made()["token"] not in str(answer)
    assert answer["keys"][1]["prefix"] == scene.made()["token"][:11]


@then(parsers.parse('bob\'s list does not name "{name}"'))
def list_without(scene: Scene, name: str) -> None:
    assert name not in str(scene.listed("bob"))


@then(parsers.parse('ann\'s list says that "{name}" was revoked'))
def list_says(scene: Scene, name: str) -> None:
    [key] = [key for key in scene.listed("ann")["keys"] if key["name"] == name]
    assert key["revokedAt"]
    assert not key["live"]


@then("ann reads all her keys 2 at a time")
def reads_pages(scene: Scene) -> None:
    first = scene.listed("ann", "?limit=2")
    second = scene.listed("ann", f"?limit=2&cursor={first['next']}")
    assert [key["name"] for key in first["keys"] + second["keys"]] == ["", "a", "b", "c"]
    assert second["next"] is None


@when(parsers.parse("{number:d} {unit} pass"))
def pass_time(scene: Scene, number: int, unit: str) -> None:
    scene.world.clock.advance(timedelta(**{unit: number}))


@given("ann signs in with her key")
@when("ann signs in with her key")
@when("ann signs in with her key from that address")
def signs_in(scene: Scene) -> None:
    scene.sign_in(scene.world.key_of("ann"))


@when("ann signs in 25 times with her key")
def signs_in_often(scene: Scene) -> None:
    for _ in range(25):
        signs_in(scene)


@when("a wrong key comes from that address")
def wrong_key(scene: Scene) -> None:
    scene.sign_in("sb_wrong")


@then(parsers.re("a wrong key from (?P<which>that|another) address is only told to be wrong"))
def only_wrong(scene: Scene, which: str) -> None:
    scene.sign_in("sb_wrong", ADDRESS if which == "that" else ELSEWHERE)
    assert isinstance(scene.refusal, Unauthenticated)


@when("somebody signs in with ann's session")
def signs_in_with_session(scene: Scene) -> None:
    assert scene.session is not None
    scene.sign_in(scene.session.token)


@when("ann signs out")
def signs_out(scene: Scene) -> None:
    assert scene.session is not None
    scene.world.run(scene.sessions.sign_out(scene.session.token))
    scene.world.run(scene.sessions.sign_out("sbs_of_nobody"))
    scene.world.run(scene.sessions.sign_out(scene.world.key_of("ann")))


@when("ann's key is revoked")
def key_revoked(scene: Scene) -> None:
    token = scene.world.key_of("ann")
    key = scene.world.run(scene.world.container.access().find_key(token))
    assert key is not None
    scene.world.run(scene.world.container.access().revoke_key(key.id))


@when("ann ends that session by its id")
def ends_session(scene: Scene) -> None:
    [session] = scene.listed("ann", "?kind=session")["keys"]
    scene.revoke("ann", session["id"])


@then("her session works, and it is ann's")
def session_works(scene: Scene) -> None:
    who = scene.owner_of_session()
    assert who is not None
    assert (who.user_id, who.role) == ("ann", Role.MEMBER)


@then("her session works no longer")
def session_ended(scene: Scene) -> None:
    assert scene.owner_of_session() is None


@then("her key still works")
def key_works(scene: Scene) -> None:
    assert scene.owners(scene.world.key_of("ann")) == {"ann"}


@then("her session is in the list of her sessions")
def session_listed(scene: Scene) -> None:
    assert scene.session is not None
    [session] = scene.listed("ann", "?kind=session")["keys"]
    [key] = scene.listed("ann")["keys"]
    assert (session["live"], session["parentId"], session["kind"]) == (True, key["id"], "session")
    assert scene.session.token.startswith(session["prefix"])


@given("a link for ann")
def link(scene: Scene) -> None:
    scene.link = scene.world.run(scene.world.container.access().create_link("ann"))


@given("a link for ann, who has a key")
def link_of_key(scene: Scene) -> None:
    scene.world.key_of("ann")
    link(scene)


@given("the link that is printed at the start")
def first_link(scene: Scene) -> None:
    scene.link = scene.world.run(scene.world.container.access().create_link())


@given("ann follows the link")
@when("ann follows the link")
@when("the link is followed")
@when("somebody follows the link again")
def follows(scene: Scene) -> None:
    scene.sign_in(scene.link)


@then("that is refused with what to do")
def refused_with_advice(scene: Scene) -> None:
    assert isinstance(scene.refusal, Unauthenticated)
    assert "check that you copied" in scene.refusal.message or "console link" in scene.refusal.message


@then("the link does not work as a key")
def link_is_no_key(scene: Scene) -> None:
    assert scene.owners(scene.link) is None


@then('the session is that of the admin "admin"')
def session_of_admin(scene: Scene) -> None:
    who = scene.owner_of_session()
    assert who is not None
    assert (who.user_id, who.role) == ("admin", Role.ADMIN)


@given(parsers.parse("{count:d} wrong keys came from one address"))
def wrong_keys(scene: Scene, count: int) -> None:
    for number in range(count):
        scene.sign_in(f"sb_wrong{number}")
        assert isinstance(scene.refusal, Unauthenticated if number < 20 else TooMany)


@given("20 wrong keys came from many addresses of one host")
def wrong_keys_of_host(scene: Scene) -> None:
    for number in range(20):
        scene.sign_in("sb_wrong", f"2001:db8::{number}")


@when("a wrong key comes from a further address of that host")
def wrong_key_beside(scene: Scene) -> None:
    scene.sign_in("sb_wrong", "2001:db8:0:0:1::1")


@then("its sender is told to wait")
def told_to_wait(scene: Scene) -> None:
    assert isinstance(scene.refusal, TooMany)
    assert 0 < scene.refusal.retry_after <= 900


@when("all of that expired long ago")
def expired_long_ago(scene: Scene) -> None:
    for column in ("api_key.expires_at", "sign_in_try.until"):
        table, name = column.split(".")
        statement = f"UPDATE {table} SET {name} = now() - interval '9 days'"
        scene.world.run(scene.world.container.database().execute(statement))


@when("the service cleans up")
def cleans_up(scene: Scene) -> None:
    scene.world.run(Retention(scene.world.container.database(), Times(timedelta(days=7))).clean())


@then("only ann's key is on record")
def on_record(scene: Scene) -> None:
    database = scene.world.container.database()
    assert scene.world.run(database.fetch("SELECT user_id, kind FROM api_key")) == [("ann", "key")]
    assert scene.world.run(database.fetch("SELECT tries FROM sign_in_try")) == []


@given(parsers.re(r"that key makes another one(?: that expires in (?P<days>\d+) days)?"))
@when(parsers.re(r"that key makes another one(?: that expires in (?P<days>\d+) days)?"))
def key_makes_key(scene: Scene, days: str | None) -> None:
    scene.tokens.append(scene.made()["token"])
    scene.make_with(scene.tokens[-1], **({"expiresInDays": int(days)} if days else {}))


@given("the other key makes a third one")
def other_key_makes_key(scene: Scene) -> None:
    key_makes_key(scene, None)
    scene.tokens.append(scene.made()["token"])


@when("ann revokes the first of them")
def revokes_first(scene: Scene) -> None:
    [key] = [key for key in scene.listed("ann")["keys"] if scene.tokens[0].startswith(key["prefix"])]
    scene.revoke("ann", key["id"])


@then("none of the three works any longer")
def none_works(scene: Scene) -> None:
    assert len(set(scene.tokens)) == 3
    assert [scene.owners(token) for token in scene.tokens] == [None] * 3
    states = {key["prefix"]: key["live"] for key in scene.listed("ann")["keys"]}
    assert [states[token[:11]] for token in scene.tokens] == [False] * 3


@then("ann's key still works")
def anns_key_works(scene: Scene) -> None:
    key_works(scene)


def expiry(key: Mapping[str, Any]) -> datetime | None:
    return key["expiresAt"] and datetime.fromisoformat(key["expiresAt"])


@then("the other key expires with it")
def expires_with_it(scene: Scene) -> None:
    keys = {key["prefix"]: key for key in scene.listed("ann")["keys"]}
    maker, made = keys[scene.tokens[0][:11]], keys[scene.made()["token"][:11]]
    assert expiry(maker)
    assert expiry(made) == expiry(maker)
    assert made["parentId"] == maker["id"]


@then(parsers.parse("the other key expires in {days:d} days"))
def expires_in(scene: Scene, days: int) -> None:
    expires_at = scene.created.key.expires_at if scene.created else expiry(scene.made()["key"])
    assert expires_at is not None
    assert abs(expires_at - scene.world.clock.now() - timedelta(days=days)) < timedelta(hours=1)


@given("ann has a key that expires in 2 days alone")
def has_expiring_key(scene: Scene) -> None:
    access, now = scene.world.container.access(), scene.world.clock.now()
    scene.world.run(access.create_key("ann", Role.MEMBER, expires_at=now + timedelta(days=2)))


@given("her session makes a key")
@when("her session makes a key")
def session_makes_key(scene: Scene) -> None:
    """As the console does, whose gateway may run apart."""
    assert scene.session is not None

    async def made() -> CreatedKey:
        caller = await scene.access.authenticate_session(scene.session.token)
        return await scene.keys.create(caller, NewKey(name="Made in the console"))

    scene.created = scene.world.run(made())


@then("the other key expires with her session")
def expires_with_session(scene: Scene) -> None:
    assert scene.session is not None
    assert scene.created is not None
    assert scene.created.key.expires_at == scene.session.expires_at
    assert scene.owners(scene.created.token) == {"ann"}


@then("the other key works no longer")
def other_works_no_longer(scene: Scene) -> None:
    assert scene.created is not None
    assert scene.owners(scene.created.token) is None


@then("her session works in the console, and nowhere as an API key")
def no_key(scene: Scene) -> None:
    session_works(scene)
    assert scene.session is not None
    assert scene.owners(scene.session.token) is None
    with pytest.raises(Unauthenticated):
        scene.world.run(scene.access.authenticate(scene.session.token))
