"""Every use case that changes something leaves an entry in the audit log, or stands here with the reason why not."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from adapters.rpc.tables import SERVICES
from domain.confirmations.requests import ApprovalRequest
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import SERVICE_KEY, World
from tests.features.verification.conftest import BASE as VERIFICATION
from tests.features.verification.conftest import outside

__all__ = ["outside"]

KB, AGENTS = "/api/agent/kb", "/api/agent/agents"
PEOPLE, BUDGETS = "/api/agent/people", "/api/agent/budgets"
SNIPPETS = "/api/agent/snippets"
INVITATIONS, INVITATION = "/api/agent/invitations", {"email": "bea@example.com", "role": "member"}
KEYS, USERS, TEAMS = "/api/agent/keys", "/api/agent/users", "/api/agent/teams"
SUBSCRIPTIONS = "/api/agent/event-subscriptions"

ELSEWHERE = {
    "AcceptInvitation": "invitations.feature, which reads the link in the mail",
    "AddPasskey": "passkeys.feature, in a browser",
    "ConfirmPasskey": "passkeys.feature, in a browser",
    "SignInWithPasskey": "passkeys.feature, in a browser",
    "FinishSingleSignOn": "single_sign_on.feature, in a browser",
    "FinishPlatformSignIn": "platform_account.feature",
}
"""RPCs whose entries other scenarios check."""
NO_ENTRY = {
    "StartPasskey": "nothing is proved yet",
    "AskForPasskey": "nothing is proved yet",
    "GetPasskeyChallenge": "nothing is proved yet",
    "StartSingleSignOn": "nobody is signed in yet",
    "StartPlatformSignIn": "nobody is signed in yet",
    "SendMailLink": "the link is made after the answer, and has an entry then",
    "CheckCredentials": "asks the platform, and stores nothing but the health",
    "SendMessage": "the message itself says who sent it; a conversation that it takes has an entry",
    "AddNote": "the note itself says who wrote it",
    "OpenChat": "a visitor, who is no user",
    "StartBotMessenger": "nothing is verified yet",
    "StartEmail": "nothing is verified yet",
    "StartOAuth": "nothing is verified yet",
    "BotWebhook": "verifies by the same function as CompleteBotMessenger",
    "VerifyEmail": "verifies by the same function as CompleteBotMessenger",
    "CompleteOAuth": "verifies by the same function as CompleteBotMessenger",
    "Ask": "changes nothing",
    "TryResource": "changes nothing",
    "TestAgent": "changes nothing",
    "TestSubscription": "pushes a trial event",
}
"""RPCs that may change something, and leave no entry."""


class Scene:
    """A world with one of everything that can be changed."""

    def __init__(self, world: World) -> None:
        self.world, self.rest = world, Rest(world)
        self._number = 0

    def ask(self, method: str, path: str, user: str = "ann", **options: Any) -> httpx.Response:
        response = self.rest.request(method, path, user, **options)
        assert response.status_code < 300, f"{method} {path}: {response.status_code} {response.text}"
        return response

    def number(self) -> int:
        self._number += 1
        return self._number

    def snippet(self) -> int:
        return int(self.ask("POST", SNIPPETS, json={"name": "s", "text": "t"}).json()["id"])

    def approval(self) -> int:
        instance = self.instance()

        async def ask() -> int:
            now = self.world.container.clock().now()
            request = ApprovalRequest(
                instance_id=instance,
                session_id="s1",
                inbox_id=self.number(),
                request_id="r1",
                resource="agent::shop_0",
                tool="refund",
                parameters={},
                approver="user:ann",
                sender="Ada",
                original="money back",
                asked_at=now,
                expires_at=now + timedelta(days=1),
                secret="s",
            )
            stored = await self.world.container.storage().approvals.add(request)
            assert stored is not None
            return stored.id

        return self.world.run(ask())

    def instance(self, channel: str = "http-webhook", **config: Any) -> int:
        body = {"channelId": channel, "channelName": f"n{self.number()}", "config": config}
        return int(self.ask("POST", INSTANCES, json=body).json()["instanceId"])

    def base(self) -> int:
        return int(self.ask("POST", KB, json={"name": "b"}).json()["id"])

    def file(self, base: int) -> str:
        files = {"files": ("a.txt", f"text {self.number()}".encode(), "text/plain")}
        uploaded = self.ask("POST", f"{KB}/{base}/uploadfile", files=files)
        return str(uploaded.json()["files"][0]["fileId"])

    def agent(self) -> int:
        body = {"name": f"a{self.number()}", "kind": "http", "settings": {"url": "https://a.example/run"}}
        return int(self.ask("POST", AGENTS, json=body).json()["id"])

    def budget(self) -> int:
        body = {"instanceId": self.instance(), "tokens": 1}
        return int(self.ask("PUT", BUDGETS, json=body).json()["id"])

    def user(self) -> str:
        name = f"user {self.number()}"
        self.ask("POST", USERS, "admin", json={"id": name})
        return name

    def team(self) -> int:
        body = {"name": f"team {self.number()}"}
        return int(self.ask("POST", TEAMS, "admin", json=body).json()["id"])

    def subscription(self) -> int:
        body = {"url": "https://hooks.example/events"}
        return int(self.ask("POST", SUBSCRIPTIONS, json=body).json()["subscription"]["id"])

    def invitation(self) -> int:
        body = INVITATION | {"email": f"u{self.number()}@example.com"}
        return int(self.ask("POST", INVITATIONS, "admin", json=body).json()["invitation"]["id"])

    def passkey(self) -> int:
        return int(
            self.row(
                "INSERT INTO passkey (user_id, credential_id, public_key, sign_count, name, created_at)"
                " VALUES ('ann', %s, '', 0, 'Phone', now()) RETURNING id",
                f"{self.number()}".encode(),
            )
        )

    def key(self) -> int:
        return int(self.ask("POST", KEYS, json={"name": "k"}).json()["key"]["id"])

    def source(self, base: int) -> int:
        body = {"url": f"https://pages.example/{self.number()}"}
        return int(self.ask("POST", f"{KB}/{base}/pages", json=body).json()["source"]["id"])

    def person(self) -> int:
        """Somebody who wrote in two conversations."""
        person = int(self.row("INSERT INTO person (owner) VALUES ('ann') RETURNING id"))
        instance = self.instance()
        for session in "ab":
            self.row(
                "INSERT INTO person_sender (instance_id, session_key, sender_key, person_id, session_id, sender,"
                " name, identities, first_at, seen_at)"
                " VALUES (%s, %s, 'ada', %s, %s, 'ada', 'Ada', '[]', now(), now())"
                " RETURNING 1",
                *(instance, session, person, session),
            )
        return person

    def row(self, statement: str, *values: Any) -> Any:
        database = self.world.container.storage().database
        return self.world.run(database.fetch_value(statement, values))

    def conversation(self, instance: int) -> str:
        self.row(
            "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (0, %s, 's', 0) RETURNING 1",
            instance,
        )
        self.failed(instance)
        return f"{INSTANCES}/{instance}/conversations/s"

    def failed(self, instance: int) -> int:
        """An inbound message that was given up."""
        return int(
            self.row(
                "INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)"
                " VALUES (%s, 's', gen_random_uuid()::text, %s, 2, now()) RETURNING id",
                instance,
                json.dumps({"text": "hello", "session": "s", "sender": "s"}),
            )
        )

    def dead(self, instance: int) -> int:
        """A delivery that was given up."""
        return int(
            self.row(
                "INSERT INTO outbox (instance_id, session_key, message, target, key, status, finished_at)"
                " VALUES (%s, 's', '{}', '{}', gen_random_uuid()::text, 2, now()) RETURNING id",
                instance,
            )
        )

    def unanswered(self, instance: int) -> int:
        event = json.dumps({"text": "hello", "session": "s", "sender": "s", "key": "k"})
        return int(
            self.row(
                "INSERT INTO unanswered (instance_id, session_key, event_key, reason, event)"
                " VALUES (%s, 's', 'k', 'bot', %s) RETURNING id",
                instance,
                event,
            )
        )

    def latest(self) -> int:
        return int(self.row("SELECT coalesce(max(id), 0) FROM audit_entry"))

    def entries(self, after: int) -> list[str]:
        database = self.world.container.storage().database
        statement = "SELECT action FROM audit_entry WHERE id > %s ORDER BY id"
        return self.world.run(database.fetch_column(statement, (after,)))


def _merge(scene: "Scene") -> Callable[[], object]:
    one, other = scene.person(), scene.person()
    return lambda: scene.ask("POST", f"{PEOPLE}/{one}/merge", json={"personIds": [other]})


def _split(scene: "Scene") -> Callable[[], object]:
    person = scene.person()
    instance = scene.row("SELECT instance_id FROM person_sender WHERE person_id = %s LIMIT 1", person)
    body = {"conversations": [{"instanceId": instance, "sessionId": "b"}]}
    return lambda: scene.ask("POST", f"{PEOPLE}/{person}/split", json=body)


Prepare = Callable[[Scene], Callable[[], object]]
"""Makes what is to be changed; what it returns makes the change alone."""


def _call(method: str, path: str, user: str = "ann", **options: Any) -> Prepare:
    return lambda scene: lambda: scene.ask(method, path, user, **options)


def _on(make: str, method: str, path: str, user: str = "ann", **options: Any) -> Prepare:
    """A call on what `make` makes, whose id stands in the path."""

    def prepare(scene: Scene) -> Callable[[], object]:
        made = getattr(scene, make)()
        return lambda: scene.ask(method, path.format(made), user, **options)

    return prepare


def _in_instance(make: str, method: str, path: str, **options: Any) -> Prepare:
    """The same for what lies in an instance."""

    def prepare(scene: Scene) -> Callable[[], object]:
        instance = scene.instance()
        made = getattr(scene, make)(instance)
        return lambda: scene.ask(method, f"{INSTANCES}/{instance}{path.format(made)}", **options)

    return prepare


def _in_base(make: str, method: str, path: str, **options: Any) -> Prepare:
    def prepare(scene: Scene) -> Callable[[], object]:
        base = scene.base()
        made = getattr(scene, make)(base)
        return lambda: scene.ask(method, f"{KB}/{base}{path.format(made)}", **options)

    return prepare


def _conversation(method: str, path: str, **options: Any) -> Prepare:
    def prepare(scene: Scene) -> Callable[[], object]:
        address = scene.conversation(scene.instance())
        return lambda: scene.ask(method, address + path, **options)

    return prepare


def _sign_in(scene: Scene) -> Callable[[], object]:
    sessions = scene.world.container.use_cases().sessions
    return lambda: scene.world.run(sessions.sign_in(scene.world.key_of("ann"), "192.0.2.1"))


def _sign_out(scene: Scene) -> Callable[[], object]:
    sessions = scene.world.container.use_cases().sessions
    session: Any = _sign_in(scene)()
    return lambda: scene.world.run(sessions.sign_out(session.token))


def _failed_file(scene: Scene) -> Callable[[], object]:
    base = scene.base()
    file = scene.file(base)
    scene.row("UPDATE kb_file SET status = 'failed' WHERE file_hash = %s RETURNING 1", file)
    return lambda: scene.ask("POST", f"{KB}/{base}/files/{file}/retry")


def _dead_push(scene: Scene) -> Callable[[], object]:
    subscription = scene.subscription()
    push = scene.dead(subscription)
    return lambda: scene.ask("POST", f"{SUBSCRIPTIONS}/{subscription}/deliveries/{push}/replay")


def _dead_letters(action: str) -> Prepare:
    def prepare(scene: Scene) -> Callable[[], object]:
        instance = scene.instance()
        items = [{"instanceId": instance, "messageId": f"in-{scene.failed(instance)}"}]
        return lambda: scene.ask("POST", f"/api/agent/dead-letters/{action}", json={"items": items})

    return prepare


def _identity(scene: Scene) -> Callable[[], object]:
    scene.row(
        "INSERT INTO verified_identity (field, normal, value, user_id) VALUES ('email', 'a@b.c', 'a@b.c', 'ann')"
        " RETURNING 1"
    )
    return lambda: scene.ask("DELETE", f"{VERIFICATION}/identities/email/a@b.c")


def _bot_identity(scene: Scene) -> Callable[[], object]:
    started = scene.ask("POST", f"{VERIFICATION}/start-bot-messenger").json()
    token = started["deepLink"].partition("start=")[2]
    body = {"token": token, "bot_messenger_id": "77", "phone": "+14155550100"}
    headers = {"authorization": f"Bearer {SERVICE_KEY}"}
    path = f"{VERIFICATION}/bot-messenger-callback"
    return lambda: scene.rest.request("POST", path, json=body, headers=headers).raise_for_status()


def _passkeys(scene: Scene) -> Callable[[], object]:
    scene.passkey()
    return lambda: scene.ask("DELETE", USERS + "/ann/passkeys", "admin")


WEBHOOK = {"channelId": "http-webhook", "channelName": "new", "config": {}}
CHANGES: dict[str, tuple[str, Prepare]] = {
    "SignIn": ("session.opened", _sign_in),
    "SignOut": ("session.ended", _sign_out),
    "CreateKey": ("key.created", _call("POST", KEYS, json={"name": "k"})),
    "RevokeKey": ("key.revoked", _on("key", "DELETE", KEYS + "/{}")),
    "CreateInvitation": ("invitation.created", _call("POST", INVITATIONS, "admin", json=INVITATION)),
    "RevokeInvitation": ("invitation.revoked", _on("invitation", "DELETE", INVITATIONS + "/{}", "admin")),
    "RemovePasskey": ("passkey.removed", _on("passkey", "DELETE", "/api/agent/passkeys/{}")),
    "ResetPasskeys": ("passkey.removed", _passkeys),
    "CreateUser": ("user.created", _call("POST", USERS, "admin", json={"id": "bea"})),
    "ChangeUser": ("user.changed", _on("user", "PUT", USERS + "/{}", "admin", json={"state": "suspended"})),
    "DeleteUser": ("user.deleted", _on("user", "DELETE", USERS + "/{}", "admin")),
    "CreateTeam": ("team.created", _call("POST", TEAMS, "admin", json={"name": "new"})),
    "ChangeTeam": ("team.changed", _on("team", "PUT", TEAMS + "/{}", "admin", json={"members": []})),
    "DeleteTeam": ("team.deleted", _on("team", "DELETE", TEAMS + "/{}", "admin")),
    "SetNotificationSettings": (
        "notifications.changed",
        _call("PUT", "/api/agent/me/notifications", json={"language": "en"}),
    ),
    "SetBudget": ("budget.changed", _call("PUT", BUDGETS, "admin", json={"userId": "ann", "tokens": 1})),
    "DeleteBudget": ("budget.deleted", _on("budget", "DELETE", BUDGETS + "/{}")),
    "CreateInstance": ("instance.created", _call("POST", INSTANCES, json=WEBHOOK)),
    "UpdateInstance": ("instance.changed", _on("instance", "PUT", INSTANCES + "/{}", json={"config": {}})),
    "SetTrusted": (
        "instance.trusted",
        _on("instance", "PUT", INSTANCES + "/{}/trusted", "admin", json={"trusted": True}),
    ),
    "DeleteInstance": ("instance.deleted", _on("instance", "DELETE", INSTANCES + "/{}")),
    "SetInstancePermission": (
        "instance.shared",
        _on("instance", "PUT", INSTANCES + "/{}/permissions", json={"userId": "bob", "level": 1}),
    ),
    "RequestPairing": (
        "instance.paired",
        lambda scene: _pairing(scene),
    ),
    "ReplayDelivery": ("message.replayed", _in_instance("dead", "POST", "/deliveries/{}/replay")),
    "DropDelivery": ("message.dropped", _in_instance("dead", "DELETE", "/deliveries/{}")),
    "ReleaseUnanswered": ("message.released", _in_instance("unanswered", "POST", "/unanswered/{}/release")),
    "RunSchedule": ("schedule.run", lambda scene: _schedule(scene)),
    "SetHandler": ("conversation.taken", _conversation("PUT", "/handler", json={"handler": "person"})),
    "ChangeConversation": (
        "conversation.changed",
        _conversation("PUT", "/state", json={"state": "closed"}),
    ),
    "CreateSnippet": ("snippet.created", _call("POST", SNIPPETS, json={"name": "s", "text": "t"})),
    "ChangeSnippet": ("snippet.changed", _on("snippet", "PUT", SNIPPETS + "/{}", json={"text": "u"})),
    "DeleteSnippet": ("snippet.deleted", _on("snippet", "DELETE", SNIPPETS + "/{}")),
    "DecideApproval": (
        "approval.decided",
        _on("approval", "POST", "/api/agent/approvals/{}/decision", json={"decision": "rejected"}),
    ),
    "RerunMessage": ("message.replayed", _in_instance("failed", "POST", "/messages/in-{}/rerun")),
    "EraseConversation": ("conversation.erased", _conversation("DELETE", "")),
    "RemoveIdentity": ("identity.removed", _identity),
    "CompleteBotMessenger": ("identity.verified", _bot_identity),
    "CreateBase": ("base.created", _call("POST", KB, json={"name": "b"})),
    "UpdateBase": ("base.changed", _on("base", "PUT", KB + "/{}", json={"name": "c"})),
    "DeleteBase": ("base.deleted", _on("base", "DELETE", KB + "/{}")),
    "SetPermission": (
        "base.shared",
        _on("base", "PUT", KB + "/{}/permissions", json={"userId": "bob", "permission_level": 1}),
    ),
    "DeleteFile": ("file.deleted", _in_base("file", "DELETE", "/files/{}")),
    "RetryFile": ("file.retried", _failed_file),
    "AddPages": ("source.added", _on("base", "POST", KB + "/{}/pages", json={"url": "https://a.example/"})),
    "ReadSource": ("source.read", _in_base("source", "POST", "/sources/{}/read")),
    "RemoveSource": ("source.deleted", _in_base("source", "DELETE", "/sources/{}")),
    "CreateSubscription": (
        "subscription.created",
        _call("POST", SUBSCRIPTIONS, json={"url": "https://hooks.example/events"}),
    ),
    "ChangeSubscription": (
        "subscription.changed",
        _on("subscription", "PUT", SUBSCRIPTIONS + "/{}", json={"status": "off"}),
    ),
    "DeleteSubscription": ("subscription.deleted", _on("subscription", "DELETE", SUBSCRIPTIONS + "/{}")),
    "ReplayPush": ("push.replayed", _dead_push),
    "CreateAgent": (
        "agent.created",
        _call("POST", AGENTS, json={"name": "n", "kind": "http", "settings": {"url": "https://a.example/"}}),
    ),
    "UpdateAgent": ("agent.changed", _on("agent", "PUT", AGENTS + "/{}", json={"name": "m"})),
    "DeleteAgent": ("agent.deleted", _on("agent", "DELETE", AGENTS + "/{}")),
    "SetAgentTrusted": (
        "agent.trusted",
        _on("agent", "PUT", AGENTS + "/{}/trusted", "admin", json={"trusted": True}),
    ),
    "SetAgentPermission": (
        "agent.shared",
        _on("agent", "PUT", AGENTS + "/{}/permissions", json={"userId": "bob", "level": 1}),
    ),
    "ChangePerson": ("person.changed", _on("person", "PUT", PEOPLE + "/{}", json={"labels": ["vip"]})),
    "MergePeople": ("person.changed", _merge),
    "SplitPerson": ("person.changed", _split),
    "ExportPerson": ("person.exported", _on("person", "POST", PEOPLE + "/{}/export")),
    "ErasePerson": ("person.erased", _on("person", "POST", PEOPLE + "/{}/erase")),
    "ReplayDeadLetters": ("message.replayed", _dead_letters("replay")),
    "DropDeadLetters": ("message.dropped", _dead_letters("drop")),
}
"""RPCs that change something: the action of the entry, and what makes the change over REST."""


def _pairing(scene: Scene) -> Callable[[], object]:
    instance = scene.instance("linked-device-messaging", phoneNumber="14155550100")
    return lambda: scene.ask("POST", f"{INSTANCES}/{instance}/request-pairing")


def _schedule(scene: Scene) -> Callable[[], object]:
    instance = scene.instance("cron", cronSchedule="0 9 * * 1", message="Count the tables.")
    return lambda: scene.ask("POST", f"/api/agent/schedules/{instance}/run")


@pytest.fixture(scope="module")
def scene(module_world: World) -> Scene:
    return Scene(module_world)


def test_every_call_that_may_change_something_is_named_here() -> None:
    calls = {name for service in SERVICES for name, rpc in service.rpcs.items() if not rpc.may_repeat}
    assert calls == {*CHANGES, *NO_ENTRY, *ELSEWHERE}, (
        "name the action of its entry in the audit log, or why it has none"
    )


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_leaves_an_entry(scene: Scene, name: str) -> None:
    action, prepare = CHANGES[name]
    change = prepare(scene)
    before = scene.latest()
    change()
    assert action in scene.entries(before)
