"""Texts from outside reach every indexed text column, and none of them can break its index.

`PATHS` names the way into each such column. A new indexed text column fails here until it has one.
"""

import json
import random
import string
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.outbound.channels.community_chat.tests import samples as mattermost
from adapters.outbound.storage.codec import LONGEST_KEY
from adapters.outbound.storage.feedback import PostgresFeedback
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.unanswered import add_unanswered
from domain.channels.limits import Limits
from domain.channels.messages import Event, Identity, OptOut, Sender, SessionAlias
from domain.confirmations.requests import ApprovalRequest
from domain.delivery.model import send_request
from domain.feedback.model import Rating, Voter
from domain.routing.model import AgentTask, Confirmation, ResourceKind, RunRequest, RunResult
from domain.routing.model import Resource as Named
from domain.web_chat.model import ChatMessage, ChatPlace
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import RestOverGrpc
from tests.drivers.world import SERVICE_KEY, World
from tests.features.verification.conftest import BASE as VERIFICATION
from tests.features.verification.conftest import SECRET, Outside, outside
from tests.support.platforms.bot_api import VerificationBotApi
from tests.support.platforms.sign_in import SignIn
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.postgres import fresh_database
from tests.support.waiting import until

__all__ = ["outside"]

LETTERS = random.Random(7)
TEXTS = {
    "10 KB": "".join(LETTERS.choices(string.ascii_letters + string.digits, k=10_000)),
    "10 KB of wide characters": "".join(chr(LETTERS.randrange(0x4E00, 0x9FA5)) for _ in range(3_400)),
    "NUL": "before\0after",
    "half a surrogate pair": "before\ud83dafter",
    "like a hash": "sha256:" + "0" * 64,
}
KB = "/api/agent/kb"
SERVICE = {"authorization": f"Bearer {SERVICE_KEY}"}
LARGEST = 1000
"""Bytes of a key, far below what an index row can hold, in columns that have several in one index."""


class Platform(StandIn):
    """Answers posts with ids of its own choice, and chat completions."""

    id = "short"

    def answer(self, seen: Seen) -> Reply:
        if seen.path.endswith("/completions"):
            message = {"role": "assistant", "content": "hello"}
            return Reply(json={"choices": [{"message": message, "finish_reason": "stop"}]})
        return Reply(status=201, json={"id": self.id})


class Scene:
    """The service, what stands around it, and the last answer to a request."""

    def __init__(self, world: World, driver: PlatformDriver, outside: Outside) -> None:
        self.world = world
        self.outside = outside
        self.rest = RestOverGrpc(world)
        self.platform = Platform()
        driver.show(self.platform)
        self.url = driver.url
        self.resource = Resource(world, self._script)
        self.tool = "tool"
        self._number = 0
        self.base = self.ask("POST", KB, "ann", json={"name": "b"}).json()["id"]

    def _script(self, request: RunRequest) -> RunResult:
        if request.text == "ask me" and request.approval is None:
            return RunResult("", confirmation=Confirmation(self.tool, {}))
        return RunResult(f"heard {request.text}")

    def ask(self, method: str, path: str, user: str | None, **options: Any) -> httpx.Response:
        """One request; it is never answered with a failure of ours, nor as an outage."""
        body = options.pop("json", None)
        if body is not None:
            headers = {**options.pop("headers", {}), "content-type": "application/json"}
            options = {**options, "content": json.dumps(body), "headers": headers}
        answer = self.rest.request(method, path, user, **options)
        assert answer.status_code < 500, answer.text
        return answer

    def number(self) -> int:
        self._number += 1
        return self._number

    def instance(self, channel_id: str, config: Mapping[str, Any], resource: str = "agent::x") -> int:
        self._number += 1
        body = {
            "channelId": channel_id,
            "channelName": f"n{self._number}",
            "config": dict(config),
            "downStreamResourceId": resource,
        }
        answer = self.ask("POST", "/api/agent/channel-instances", "ann", json=body)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["instanceId"])

    def hook(self, resource: str = "agent::x", **config: Any) -> int:
        return self.instance(
            "http-webhook", {"responseWebhookUrl": f"{self.url}/answers", **config}, resource
        )

    def post(self, instance: int, message: str, session: str, **options: Any) -> None:
        path = f"/api/agent/channels/http-webhook/{instance}/webhook"
        body = {"message": message, "sessionId": session}
        assert self.ask("POST", path, None, json=body, **options).status_code == 200
        self.settled()

    def settled(self) -> None:
        """Nothing is tried over and over: all that came in has an outcome, and every reply is sent."""
        waiting = (
            "SELECT (SELECT count(*) FROM inbox WHERE status = 0),"
            " (SELECT count(*) FROM outbox WHERE status <> 1)"
        )
        until(lambda: self.fetch(waiting) == [(0, 0)], "everything is worked off and sent")
        assert self.fetch("SELECT id FROM inbox WHERE failures > 0 OR error IS NOT NULL") == []

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        return self.world.run(self.world.container.database().fetch(query))

    def cleared(self, *columns: str) -> None:
        for column in columns:
            table, _, _ = column.partition(".")
            self.fetch(f'DELETE FROM "{table}"')

    def keys(self, column: str) -> set[str]:
        table, _, name = column.partition(".")
        return {str(value) for (value,) in self.fetch(f'SELECT DISTINCT "{name}" FROM "{table}"')}


def quoted(text: str) -> str:
    """As a segment of a path."""
    return quote(text, safe="", errors="replace")


def session_id(scene: Scene, text: str) -> None:
    scene.post(scene.hook(), "hello", text)


def logged_session(scene: Scene, text: str) -> None:
    scene.world.run(scene.world.container.storage().event_log.listen("test"))
    session_id(scene, text)


def sent_first(scene: Scene, text: str) -> None:
    """The session and the idempotency key of a message that answers none, and the session of its file."""
    instance = scene.hook()
    scene.post(instance, "hello", text)
    key = text.encode("ascii", "ignore").replace(b"\0", b"") or b"k" * 9000
    file = {"name": "a.txt", "mimeType": "text/plain", "dataBase64": "aGVsbG8="}
    for headers in ({}, {"idempotency-key": key.decode()}):
        body = {"sessionId": text, "text": "hello", "files": [file]}
        path = f"/api/agent/channel-instances/{instance}/messages"
        assert scene.ask("POST", path, "ann", json=body, headers=headers).status_code in (202, 400)
    scene.settled()


def opted_out(scene: Scene, text: str) -> None:
    sessions = scene.world.container.storage().sessions
    scene.world.run(sessions.record_opt_out(scene.hook(), OptOut(text)))


def unanswered_message(scene: Scene, text: str) -> None:
    message = Event(text, "s", Sender("ann@client.example"), "News", {}, refused="list")
    instance = scene.hook()

    async def add() -> None:
        async with scene.world.container.database().transaction() as connection:
            await add_unanswered(connection, instance, [message])

    scene.world.run(add())


def vote(scene: Scene, text: str) -> None:
    instance, votes = scene.hook(), PostgresFeedback(scene.world.container.database())
    scene.post(instance, "hello", text)
    scene.world.run(
        scene.world.container.database().execute(
            "UPDATE outbox SET ref = 'voted' WHERE id = (SELECT max(id) FROM outbox)"
        )
    )
    assert scene.world.run(votes.vote_on(instance, "voted", Rating.UP, Voter(text, text)))


def sender_of_person(scene: Scene, text: str) -> None:
    sender = Sender(text, text, (Identity("email", text),))
    message = Event(None, text, sender, "hello", {})
    inbox, database = scene.world.container.storage().inbox, scene.world.container.database()
    scene.world.run(inbox.add(scene.hook(), [message]))
    scene.settled()
    scene.world.run(database.execute("UPDATE person_position SET claimed_at = now() - interval '1 minute'"))
    scene.world.run(scene.world.container.people_recorder().record())


def session_alias(scene: Scene, text: str) -> None:
    sessions = PostgresSessions(scene.world.container.database())
    scene.world.run(sessions.add_alias(scene.hook(), SessionAlias(text, "441632960001")))
    scene.world.run(sessions.add_alias(scene.hook(), SessionAlias("GB.300", text)))


def visitor_session(scene: Scene, text: str) -> None:
    """Session and message of a visitor."""
    log = scene.world.container.storage().chat_log
    place = ChatPlace(scene.instance("web-chat", {}), text)
    scene.world.run(log.write(place, ChatMessage(text, {"from": text})))


def idempotency_key(scene: Scene, text: str) -> None:
    header = text.encode("ascii", "ignore").replace(b"\0", b"") or b"k" * 9000
    scene.post(scene.hook(), "hello", "s", headers={"idempotency-key": header.decode()})


def post_id(scene: Scene, text: str) -> None:
    """Of a message and of its sender. Not what the platform called a message of ours: that would be an echo."""
    instance = scene.instance("community-chat", {**mattermost.SAMPLE.config, "SERVER_URL": scene.url})
    body = {**mattermost.POST, "post_id": f"{text}?", "user_id": text}
    path = f"/api/agent/channels/community-chat/{instance}/webhook"
    assert scene.ask("POST", path, None, json=body).status_code == 200
    scene.settled()


def anonymous_sender(scene: Scene, text: str) -> None:
    scene.post(scene.hook(accessMode="allowlist"), "hello", text)


def message_id(scene: Scene, text: str) -> None:
    """What a platform calls a message that was sent; it is kept whole."""
    scene.platform.id = text
    post_id(scene, "short")
    scene.platform.id = "short"
    whole = text.replace("\0", "").encode("utf-8", "replace").decode()
    [kept] = scene.fetch("SELECT ref FROM outbox WHERE ref IS NOT NULL")
    assert kept[0].replace("\N{REPLACEMENT CHARACTER}", "?") == whole


def model_session(scene: Scene, text: str) -> None:
    scene.post(scene.hook("agent::chat"), "hello", text)


def state_of_resource(scene: Scene, text: str) -> None:
    states, resource = scene.world.container.storage().resource_states, Named(ResourceKind.AGENT, text)
    scene.world.run(states.save(scene.hook(), text, resource, {"thread": text}))


def task_of_agent(scene: Scene, text: str) -> None:
    tasks, resource = scene.world.container.storage().agent_tasks, Named(ResourceKind.AGENT, "helper")
    scene.world.run(
        tasks.add(
            AgentTask(
                instance_id=scene.hook(), session_id=text, resource=resource, request_id=text, task_id="t"
            )
        )
    )


def approval_of_colleague(scene: Scene, text: str) -> None:
    now = scene.world.container.clock().now()
    request = ApprovalRequest(
        instance_id=scene.hook(),
        session_id=text,
        inbox_id=1,
        request_id=text,
        resource=text,
        tool=text,
        parameters={text: text},
        approver="user:ann",
        sender=text,
        original=text,
        asked_at=now,
        expires_at=now + timedelta(days=1),
        secret="s",
    )
    scene.world.run(scene.world.container.storage().approvals.add(request))


def question(scene: Scene, text: str) -> None:
    scene.post(scene.hook(), "ask me", text)


def tool_name(scene: Scene, text: str) -> None:
    scene.tool, instance = text, scene.hook()
    scene.post(instance, "ask me", "s")
    scene.post(instance, "always", "s")
    approved = scene.resource.requests[-1].approval
    assert approved is not None
    assert approved.tool in (text, text.encode("utf-8", "replace").decode().replace("?", "\ufffd"))


def instance_fields(scene: Scene, text: str) -> None:
    for changed in ({"channelName": text}, {"channelId": text}, {"downStreamResourceId": text}):
        body = {"channelId": "http-webhook", "channelName": "n", "config": {}, **changed}
        assert scene.ask("POST", "/api/agent/channel-instances", "ann", json=body).status_code in (400, 201)


def acting_user(scene: Scene, text: str) -> None:
    user = text.encode("utf-8", "ignore")
    for path, body in (("/api/agent/channel-instances", INSTANCE), (KB, {"name": "b"}), (AGENTS, AGENT)):
        headers: Any = {**SERVICE, "x-user-id": user}
        assert scene.ask("POST", path, None, json=body, headers=headers).status_code in (400, 201)
    address = {"email": "ann@example.com"}
    started = scene.ask("POST", f"{VERIFICATION}/start-email", None, json=address, headers=headers)
    assert started.status_code in (400, 200)


INSTANCE = {"channelId": "http-webhook", "channelName": "of a long user", "config": {}}


def key_of_another(scene: Scene, text: str) -> None:
    answer = scene.ask("POST", "/api/agent/keys", None, json={"userId": text}, headers=SERVICE)
    assert answer.status_code in (400, 201)


def permission(scene: Scene, text: str) -> None:
    body = {"userId": text, "permission_level": 1}
    answer = scene.ask("PUT", f"{KB}/{scene.base}/permissions", "ann", json=body)
    assert answer.status_code in (400, 204)


AGENTS = "/api/agent/agents"
AGENT = {"name": "a", "kind": "http", "settings": {"url": "http://127.0.0.1:9/"}}


def agent_id(scene: Scene, text: str) -> None:
    for given in ({"resourceId": text}, {"name": text}):
        assert scene.ask("POST", AGENTS, "ann", json={**AGENT, **given}).status_code in (400, 201)


def budget(scene: Scene, text: str) -> None:
    for about in ({"userId": text}, {"resourceId": text}):
        body = {**about, "tokens": 1}
        assert scene.ask("PUT", "/api/agent/budgets", "admin", json=body).status_code in (200, 400)


def agent_permission(scene: Scene, text: str) -> None:
    agent = scene.ask("POST", AGENTS, "ann", json=AGENT).json()["id"]
    body = {"userId": text, "level": 1}
    answer = scene.ask("PUT", f"{AGENTS}/{agent}/permissions", "ann", json=body)
    assert answer.status_code in (400, 204)


def user_or_team(scene: Scene, text: str) -> None:
    """Users, teams, permissions on instances, and entries of the audit log."""
    new = {"id": text, "name": text}
    assert scene.ask("POST", "/api/agent/users", "admin", json=new).status_code in (201, 400, 409)
    with_address = {"id": f"u{scene.number()}", "email": f"{text}@example.com"}
    assert scene.ask("POST", "/api/agent/users", "admin", json=with_address).status_code in (201, 400, 409)
    team = {"name": text, "members": [{"userId": text}]}
    assert scene.ask("POST", "/api/agent/teams", "admin", json=team).status_code in (201, 400, 409)
    shared = {"userId": text, "level": 1}
    path = f"/api/agent/channel-instances/{scene.instance('http-webhook', {})}/permissions"
    assert scene.ask("PUT", path, "ann", json=shared).status_code in (204, 400)
    for query in ("actor", "action", "object"):
        audit = scene.ask("GET", f"/api/agent/audit?{query}={quoted(text)}", "admin")
        assert audit.status_code in (200, 400)


def note(scene: Scene, text: str) -> None:
    instance = scene.hook()
    scene.post(instance, "hello", text)
    path = f"/api/agent/channel-instances/{instance}/conversations/{quoted(text)}"
    answer = scene.ask("POST", f"{path}/notes", "ann", json={"text": f"@{text} look"})
    assert answer.status_code in (201, 400, 404)
    for change in ({"assignee": f"user:{text}"}, {"assignee": f"team:{text}"}, {"labels": [text]}):
        answer = scene.ask("PUT", f"{path}/state", "ann", json=change)
        assert answer.status_code in (204, 400, 404)
    for field in ("assignee", "label", "channelId"):
        answer = scene.ask("GET", f"/api/agent/conversations?{field}={quoted(text)}", "ann")
        assert answer.status_code in (200, 400)


def snippet(scene: Scene, text: str) -> None:
    body = {"name": text, "text": text}
    assert scene.ask("POST", "/api/agent/snippets", "ann", json=body).status_code in (201, 400)
    answer = scene.ask("GET", f"/api/agent/snippets?query={quoted(text)}", "ann")
    assert answer.status_code in (200, 400)


def file_of_words(scene: Scene, text: str) -> None:
    readable = text.encode("utf-8", "ignore").replace(b"\0", b"") or b"word"
    files = {"files": ("name.txt", b"some text and " + readable, "text/plain")}
    answer = scene.ask("POST", f"{KB}/{scene.base}/uploadfile", "ann", files=files)
    assert answer.status_code == 201, answer.text
    for kind in ("file", "chunk", "chunks", "download"):
        found = scene.ask("GET", f"{KB}/{kind}/{quoted(text)}", "ann")
        assert found.status_code in (400, 404)


def mail_address(scene: Scene, text: str) -> None:
    for email in (f"{text}@example.com", f"ann@{text}.example.com"):
        answer = scene.ask("POST", f"{VERIFICATION}/start-email", "ann", json={"email": email})
        assert answer.status_code in (400, 200)


def messenger_id(scene: Scene, text: str) -> None:
    link = scene.ask("POST", f"{VERIFICATION}/start-bot-messenger", "ann").json()["deepLink"]
    token = link.partition("start=")[2]
    sender = {"id": text}
    message = {"from": sender, "chat": {"id": 77, "type": "private"}, "text": f"/start {token}"}
    body = {"update_id": 1, "message": message}
    path = f"{VERIFICATION}/bot-messenger-bot-webhook"
    assert scene.ask("POST", path, None, json=body, headers=SECRET).status_code in (400, 200)
    body = {"token": token, "bot_messenger_id": text, "phone": "+4915112345678"}
    answer = scene.ask("POST", f"{VERIFICATION}/bot-messenger-callback", None, json=body, headers=SERVICE)
    assert answer.status_code == 400


def account_id(scene: Scene, text: str) -> None:
    sign_in = scene.outside.sign_in.platform
    assert isinstance(sign_in, SignIn)
    address = scene.ask("POST", f"{VERIFICATION}/start-gaming-chat", "ann").json()["authUrl"]
    params = sign_in.agree(address, id=text)
    scene.ask("GET", f"{VERIFICATION}/callback/gaming-chat", None, params=params)


def identity_to_remove(scene: Scene, text: str) -> None:
    name = quoted(text)
    for field, value in ((name, "x"), ("email", name)):
        answer = scene.ask("DELETE", f"{VERIFICATION}/identities/{field}/{value}", "ann")
        assert answer.status_code in (400, 404)


def invited_address(scene: Scene, text: str) -> None:
    for email in (f"{text}@example.com", f"ann@{text}.example.com"):
        answer = scene.ask("POST", "/api/agent/invitations", "admin", json={"email": email})
        assert answer.status_code in (201, 400, 409)


def account_at_provider(scene: Scene, text: str) -> None:
    store = scene.world.container.storage().sign_ins
    scene.world.run(store.tie("https://login.example", text, "ann"))
    assert scene.world.run(store.user_of("https://login.example", text)) == "ann"


def platform_limits(scene: Scene, text: str) -> None:
    """Cooldowns and a reserved slot, under keys made from what a channel says of a credential and a conversation."""
    request = send_request(1, "http-webhook", text, Limits(text, text))
    shared = scene.world.container.work().shared_limits
    scene.world.run(shared.cool_down(request.account, 1.0))
    scene.world.run(shared.cool_down(request.conversation, 1.0))
    scene.world.run(shared.reserve(request.conversation, 1.0, 1, 1.0))


OUTSIDE_NONE = "its values are made by the service alone"
BOUNDED = "an answer with a long one, or one with control characters, is refused when it is read"
COPIED = (
    "its values are copies of keys of conversations and of ids of users, which are bounded where they come in"
)
CODES = "codes of three letters"
Way = Callable[[Scene, str], None]
OF_PERSON = "a long one, or one with control characters, is refused"
PATHS: dict[str, tuple[Way, ...] | str] = {
    "access_notice.external_id": (anonymous_sender,),
    "agent.owner": (acting_user,),
    "agent.slug": (agent_id,),
    "agent_permission.user_id": (agent_permission, acting_user),
    "alembic_version.version_num": OUTSIDE_NONE,
    "api_key.kind": OUTSIDE_NONE,
    "app_user.email": (user_or_team,),
    "app_user.id": (user_or_team, acting_user),
    "audit_entry.action": OUTSIDE_NONE,
    "audit_entry.object": (user_or_team, acting_user),
    "audit_entry.user_id": (acting_user,),
    "instance_permission.user_id": (user_or_team,),
    "conversation_note.session_key": (note,),
    "snippet.user_id": (snippet, acting_user),
    "team.lower(name)": (user_or_team,),
    "team.name": (user_or_team,),
    "team_member.user_id": (user_or_team,),
    "api_key.user_id": (key_of_another,),
    "blob.key": (file_of_words,),
    "budget.created_by": (budget,),
    "budget.currency": CODES,
    "approval_request.approver": BOUNDED,
    "approval_request.request_id": (approval_of_colleague,),
    "approval_request.session_key": (approval_of_colleague,),
    "budget.scope": OUTSIDE_NONE,
    "budget.subject": (budget,),
    "channel_instance.channel_id": (instance_fields,),
    "channel_instance.channel_name": (instance_fields,),
    "channel_instance.resource_id": (instance_fields,),
    "channel_instance.user_id": (acting_user,),
    "chat_history.session_key": (model_session,),
    "chosen_model.kind": OUTSIDE_NONE,
    "chunk.chunk_id": (file_of_words,),
    "embedding_model.fingerprint": OUTSIDE_NONE,
    "event_listener.id": OUTSIDE_NONE,
    "event_log.session_key": (logged_session,),
    "event_position.reader": OUTSIDE_NONE,
    "inbox.event_key": (idempotency_key, post_id),
    "inbox.hashtextextended(session_key, 0::bigint)": (session_id, post_id),
    "inbox.session_key": (session_id, post_id),
    "instance_activity.activity": OUTSIDE_NONE,
    "kb_file.blob_key": (file_of_words,),
    "kb_file.file_hash": (file_of_words,),
    "kb_source_page.status": OUTSIDE_NONE,
    "kb_permission.user_id": (permission, acting_user),
    "kb_term.term": (file_of_words,),
    "message_file.blob_key": OUTSIDE_NONE,
    "message_file.session_key": (sent_first,),
    "opt_out.session_key": (opted_out,),
    "queue.(instance_id + 0)": OUTSIDE_NONE,
    "queue.assignee": BOUNDED,
    "queue.labels": BOUNDED,
    "queue.session_key": (session_id,),
    "outbox.hashtextextended(session_key, instance_id)": (session_id,),
    "outbox.hashtextextended(ref, 0::bigint)": (message_id,),
    "person.labels": OF_PERSON,
    "person.owner": (acting_user,),
    "person.search": (sender_of_person,),
    "person_sender.identity_keys": (sender_of_person,),
    "person_sender.sender_key": (sender_of_person,),
    "person_sender.session_key": (sender_of_person,),
    "person_sender.user_id": (acting_user,),
    "privacy_request.owner": (acting_user,),
    "push_cursor.session_key": (logged_session,),
    "feedback.sender_key": (vote,),
    "feedback.session_key": (vote,),
    "agent_task.request_id": (task_of_agent,),
    "agent_task.session_key": (task_of_agent,),
    "resource_state.resource": (state_of_resource,),
    "resource_state.session_key": (state_of_resource,),
    "schema_version.version_num": OUTSIDE_NONE,
    "notification.object": COPIED,
    "notification.session_key": COPIED,
    "notification.user_id": COPIED,
    "notification_cause.session_key": COPIED,
    "notification_delivery.user_id": COPIED,
    "notification_delivery.way": OUTSIDE_NONE,
    "report.user_id": COPIED,
    "report_event.session_key": COPIED,
    "send.idempotency_key": (sent_first,),
    "send.session_key": (sent_first,),
    "send_cooldown.key": (platform_limits,),
    "send_quota.key": (platform_limits,),
    "session_alias.alias": (session_alias,),
    "session_alias.session_key": (session_alias,),
    "tool_approval.session_key": (tool_name,),
    "tool_approval.tool_key": (tool_name,),
    "tool_confirmation.id": OUTSIDE_NONE,
    "tool_confirmation.session_key": (question,),
    "tool_confirmation.nonce": OUTSIDE_NONE,
    "unanswered.event_key": (unanswered_message,),
    "usage.currency": CODES,
    "usage.resource_id": (instance_fields,),
    "usage.user_id": (acting_user,),
    "verification_code.user_id": (acting_user,),
    "verification_link.messenger_id": (messenger_id,),
    "verification_send.address": (mail_address,),
    "verification_send.user_id": (acting_user,),
    "passkey.user_id": (key_of_another,),
    "invitation.email": (invited_address,),
    "invitation.user_id": (key_of_another,),
    "provider_account.issuer": OUTSIDE_NONE,
    "provider_account.subject": (account_at_provider,),
    "provider_account.user_id": (key_of_another,),
    "verified_identity.field": (identity_to_remove,),
    "verified_identity.normal": (account_id, identity_to_remove),
    "verified_identity.user_id": (acting_user,),
    "web_chat.session_key": (visitor_session,),
    "web_chat_message.message_key": (visitor_session,),
}
WAYS = sorted({way for ways in PATHS.values() for way in ways if callable(way)}, key=lambda way: way.__name__)
KEPT = {
    approval_of_colleague: "approval_request.session_key",
    anonymous_sender: "access_notice.external_id",
    model_session: "chat_history.session_key",
    session_id: "inbox.session_key",
    logged_session: "event_log.session_key",
    opted_out: "opt_out.session_key",
    post_id: "inbox.event_key",
    question: "tool_confirmation.session_key",
    state_of_resource: "resource_state.session_key",
    task_of_agent: "agent_task.session_key",
    tool_name: "tool_approval.tool_key",
    session_alias: "session_alias.alias",
    unanswered_message: "unanswered.event_key",
    vote: "feedback.sender_key",
    sender_of_person: "person_sender.sender_key",
    account_id: "verified_identity.normal",
    account_at_provider: "provider_account.subject",
}
"""Where a text is kept under the key that `key_of` makes of it: so the way does lead into the column."""

INDEXED = """
SELECT DISTINCT coalesce(p.relname, t.relname) || '.'
    || trim(both '"' FROM pg_get_indexdef(x.indexrelid, k.n::int, true))
FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid
LEFT JOIN pg_inherits h ON h.inhrelid = t.oid LEFT JOIN pg_class p ON p.oid = h.inhparent
CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
JOIN pg_attribute a ON a.attrelid = x.indexrelid AND a.attnum = k.n
LEFT JOIN pg_attribute b ON b.attrelid = x.indrelid AND b.attnum = k.attnum AND k.attnum > 0
WHERE t.relnamespace = 'public'::regnamespace AND (k.attnum = 0 OR
    'S' IN (SELECT typcategory FROM pg_type WHERE oid IN (a.atttypid, b.atttypid)))
"""
"""Every indexed column of a text type, those of partitions under their table, and every indexed expression."""


@pytest.fixture(scope="module")
def scene(
    outside: Outside, postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory, request: Any
) -> Iterator[Scene]:
    driver, folder = PlatformDriver(), tmp_path_factory.mktemp("indexed")
    rules: Path = folder / "resources.toml"
    rules.write_text(
        f'[[rule]]\nmatch = "agent::chat"\nkind = "chat-completions"\nurl = "{driver.url}/completions"\nmodel = "m"\n'
    )
    outside.sign_in.show(SignIn())
    outside.bot_api.show(VerificationBotApi())
    with fresh_database(postgres_dsn) as dsn:
        world = World(dsn, folder, **{**request.module.SETTINGS, "RESOURCES_FILE": str(rules)})
        world.start()
        made = Scene(world, driver, outside)
        yield made
        made.rest.close()
        world.stop()
    driver.close()


def test_every_indexed_text_has_a_way_in(scene: Scene) -> None:
    found = {column for (column,) in scene.fetch(INDEXED)}
    assert found == set(PATHS), "name the way into a new column above, and send it through `codec.key_of`"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_any_text_passes_through(scene: Scene, way: Way, text: str) -> None:
    scene.cleared("outbox.ref", KEPT.get(way, "outbox.ref"))
    way(scene, TEXTS[text])
    if way in KEPT:
        kept = scene.keys(KEPT[way])
        assert kept, "the way leads elsewhere"
        assert all(len(key) <= LONGEST_KEY for key in kept)


def test_no_key_is_longer_than_an_index_holds(scene: Scene) -> None:
    for way in (session_id, message_id, file_of_words, account_id, tool_name, messenger_id):
        scene.cleared("outbox.ref")
        way(scene, TEXTS["10 KB of wide characters"])
    for column in PATHS.keys() - {"person.search"}:  # an index of trigrams holds no whole text
        table, _, name = column.partition(".")
        if "(" not in name:
            [(most,)] = scene.fetch(f'SELECT coalesce(max(octet_length("{name}"::text)), 0) FROM "{table}"')
            assert most <= LARGEST, column
