"""A service with people of all roles and levels, and calls of it that leave nothing behind.

A call runs in the task of a transaction that is rolled back, so that one world serves for all calls; and the
transaction tells whether anything was written.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import Mock

import httpx
from google.protobuf.message_factory import GetMessageClass

from adapters.inbound.grpc import interceptors
from adapters.inbound.grpc.server import behaviours_of
from adapters.inbound.mcp import resources
from adapters.inbound.mcp.server import READING, SENDING
from adapters.inbound.rest.errors import STATUS
from adapters.rpc.tables import SERVICES
from domain.access.model import Caller, Role, Scope
from domain.refusals import Refusal
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import HANGING, SERVICE_KEY, World

ON = "active"
NONE: Mapping[str, Any] = {"instance_id": None}
BODY: dict[str, Any] = {"channelId": "http-webhook", "channelName": "Shop", "config": {}}
NEW = {**BODY, "channelName": "New"}
SHARED = {"userId": "somebody", "level": 1}
TOOLS = {kind.name(): kind for kind in (*READING, *SENDING)}
WATCHING = ("GET /api/agent/events", "Events/Watch")
ROUTES = {service.descriptor.name + "/" + name: (service, name) for service in SERVICES
          for name in service.descriptor.methods_by_name}  # fmt: skip


@dataclass(frozen=True)
class Person:
    """Who calls. `level`: on the instance, the base and the agent."""

    name: str
    role: Role | None = None
    level: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    scopes: tuple[Scope, ...] | None = None
    in_team: bool = False
    leads: bool = False
    is_out: bool = False
    """Suspended, or without a key."""
    is_nobody: bool = False
    """A service that acts for no user."""
    owns: bool = False

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN and self.has("admin")

    def has(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


class RolledBack(Exception):
    """Ends a transaction."""


class Everybody:
    """People of all kinds, and what they are refused."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rest = Rest(world)
        self.database = world.container.database()
        self.access = world.container.access()
        services = world.container.use_cases()
        self.services = services
        self.behaviours = behaviours_of(services, world.container.foundation().ids, "http://localhost")
        self.people: list[Person] = []
        self.objects: dict[str, Any] = {}
        world.run(self._furnish())

    async def _furnish(self) -> None:
        owner = await self._person("owner", Role.MEMBER, 3, owns=True)
        await self._person("admin", Role.ADMIN, 3)
        await self._person("stranger", Role.MEMBER)
        await self._person("responder", Role.RESPONDER)
        await self._make(owner.headers)
        for level in (1, 2, 3):
            by_user, by_team = f"level {level}", f"team of level {level}"
            await self._person(by_user, Role.RESPONDER, level)
            await self._share(level, {"userId": by_user})
            await self._person(by_team, Role.MEMBER, level)
            await self._share(level, {"teamId": await self._team(by_team, by_team)})
        await self._person("in the team", Role.MEMBER, in_team=True)
        await self._person("leads the team", Role.MEMBER, in_team=True, leads=True)
        self.objects["team"] = await self._team("team", "in the team", "leads the team")
        service = {"authorization": f"Bearer {SERVICE_KEY}"}
        self.people += [
            Person("nobody", is_out=True),
            Person("service", Role.ADMIN, 3, service, is_nobody=True),
            Person("service for the owner", Role.MEMBER, 3, {**service, "x-user-id": "owner"}, owns=True),
            Person("service for a stranger", Role.MEMBER, 0, {**service, "x-user-id": "stranger"}),
            Person("service for an admin", Role.MEMBER, 0, {**service, "x-user-id": "admin"}),
        ]
        for scope in Scope:
            await self._with_scopes("owner", Role.MEMBER, 3, (scope,))
        every_other = tuple(scope for scope in Scope if scope is not Scope.ADMIN)
        await self._with_scopes("admin", Role.ADMIN, 0, every_other)
        await self._with_scopes("admin", Role.ADMIN, 3, (Scope.ADMIN,))
        await self._person("suspended", Role.MEMBER, is_out=True)
        await self._ask("PUT", "/api/agent/users/suspended", json={"state": "suspended"})
        self.people.append(
            Person("service for a suspended", headers={**service, "x-user-id": "suspended"}, is_out=True)
        )
        for person in self.people:  # that they were seen is written at their first calls
            await self.rest.client.get("/api/agent/channels", headers=person.headers)

    async def _with_scopes(self, user: str, role: Role, level: int, scopes: tuple[Scope, ...]) -> None:
        _, token = await self.access.create_key(user, role, scopes=scopes)
        headers = {"authorization": f"Bearer {token}"}
        name = f"{user} with {'every other scope' if len(scopes) > 1 else scopes[0]}"
        self.people.append(Person(name, role, level, headers, scopes, owns=user == "owner"))

    async def _person(self, user: str, role: Role, level: int = 0, **more: Any) -> Person:
        key, token = await self.access.create_key(user, role)
        if user == "owner":
            self.objects |= {"key": key.id, "user": "stranger"}
        person = replace(Person(user, role, level, {"authorization": f"Bearer {token}"}), **more)
        self.people.append(person)
        return person

    async def _make(self, owner: Mapping[str, str]) -> None:
        """The objects of the owner, and ids of things that are not there."""
        instance = await self._ask("POST", INSTANCES, owner, json=BODY)
        base = await self._ask("POST", "/api/agent/kb", owner, json={"name": "Handbook"})
        settings = {"url": "http://10.0.0.1"}
        body = {"name": "Support", "kind": "http", "settings": settings}
        agent = await self._ask("POST", "/api/agent/agents", owner, json=body)
        path = f"/api/agent/kb/{base['id']}/uploadfile"
        headers = {**owner, "prefer": "respond-async"}
        file = await self._ask("POST", path, headers, files={"file": ("a.txt", b"The pump.")})
        body = {"url": "https://127.0.0.1:1/pushes"}
        subscription = await self._ask("POST", "/api/agent/event-subscriptions", owner, json=body)
        self.objects |= {
            "instance": instance["instanceId"],
            "base": base["id"],
            "agent": agent["id"],
            "file": file["fileId"],
            "subscription": subscription["subscription"]["id"],
            "person": await self._know_person(instance["instanceId"]),
            "session": "s1",
            "message": "send-4711",
            "delivery": 4711,
            "source": 4711,
            "chunk": "1-00000000-0000-4000-8000-000000000000",
            "type": "http-webhook",
            "field": "email",
            "value": "nobody@example.com",
        }

    async def _know_person(self, instance_id: int) -> int:
        """Somebody who has written to the instance."""
        person = "INSERT INTO person (owner) VALUES ('owner') RETURNING id"
        person_id = int(await self.database.fetch_value(person))
        sender = (
            "INSERT INTO person_sender (instance_id, session_key, sender_key, person_id, session_id, sender, name,"
            " identities, first_at, seen_at) VALUES (%s, 's1', '1', %s, 's1', '1', 'Kay', '[]', now(), now())"
        )
        await self.database.execute(sender, (instance_id, person_id))
        return person_id

    async def _share(self, level: int, grantee: Mapping[str, Any]) -> None:
        for path, name in (
            (f"{INSTANCES}/{self.objects['instance']}", "level"),
            (f"/api/agent/agents/{self.objects['agent']}", "level"),
            (f"/api/agent/kb/{self.objects['base']}", "permission_level"),
        ):
            await self._ask("PUT", f"{path}/permissions", json={**grantee, name: level})

    async def _team(self, name: str, *members: str) -> int:
        listed = [{"userId": user, "lead": user.startswith("leads")} for user in members]
        team = await self._ask("POST", "/api/agent/teams", json={"name": name, "members": listed})
        return int(team["id"])

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **options: Any
    ) -> Any:
        """The answer to a request of an admin, or of whom the headers name."""
        headers = headers or next(person.headers for person in self.people if person.name == "admin")
        answer = await self.rest.client.request(method, path, headers=headers, **options)
        assert answer.is_success, (path, answer.text)
        return answer.json() if answer.content else None

    @asynccontextmanager
    async def rolled_back(self) -> AsyncIterator[None]:
        with suppress(RolledBack):
            async with self.database.unit():
                yield
                raise RolledBack

    async def call(self, person: Person, call: str) -> tuple[int, bool]:
        """The HTTP status, or that of the refusal, and whether anything was written."""
        async with asyncio.timeout(HANGING):
            if call.startswith(WATCHING):  # a task of the event log would wait for what the transaction holds
                return await self._called(person, call), False
            async with self.rolled_back():
                status = await self._called(person, call)
                written = await self.database.fetch_value("SELECT pg_current_xact_id_if_assigned()")
        return status, written is not None

    async def _called(self, person: Person, call: str) -> int:
        kind, _, rest = call.partition(" ")
        if kind.isupper():
            return await self.request(person, kind, rest)
        ways: Mapping[str, Callable[[Person, str], Any]] = {
            "tool": self.tool,
            "resource": self.resource,
            "resources": self.resources,
        }
        try:
            await ways.get(kind, partial(self.rpc, kind))(person, rest)
        except Refusal as refusal:
            return next(STATUS[base] for base in type(refusal).__mro__ if base in STATUS)
        return 200

    async def request(self, person: Person, method: str, call: str) -> int:
        path = call.partition(" ")[0].format(**self.objects)
        options = dict(self.bodies().get(f"{method} {call}", {}))
        headers = {**(person.headers), **options.pop("headers", {})}
        if path.startswith("/api/agent/events"):
            return await self._begun(path, headers)
        answer = await self.rest.client.request(method, path, headers=headers, **options)
        return answer.status_code

    async def _begun(self, path: str, headers: Mapping[str, str]) -> int:
        """The status of a stream, which is left as soon as it begins."""
        status: list[int] = []
        begun = asyncio.Event()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
                begun.set()

        async def receive() -> Any:
            await asyncio.Event().wait()

        url = httpx.URL(f"http://localhost{path}")
        scope = {
            "type": "http",
            "method": "GET",
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
            "scheme": "http",
            "http_version": "1.1",
        }
        stream = asyncio.create_task(self.rest.app(scope, receive, send))
        await begun.wait()
        stream.cancel()
        await asyncio.gather(stream, return_exceptions=True)
        return status[0]

    async def caller(self, person: Person) -> Caller:
        headers = person.headers
        token = headers.get("authorization", "Bearer ").removeprefix("Bearer ")
        return await self.access.authenticate(token, headers.get("x-user-id"))

    async def rpc(self, name: str, person: Person, variant: str) -> None:
        """Serves one call of an RPC, without the socket."""
        service, method = ROUTES[name]
        authenticate = partial(self.caller, person)
        interceptors.serve(await authenticate(), authenticate)
        descriptor = service.descriptor.methods_by_name[method]
        fields = self.fields(f"{name} {variant}".strip(), descriptor.input_type.fields)
        request: Any = GetMessageClass(descriptor.input_type)(**fields)
        if descriptor.client_streaming:
            request = _pieces(request)
        answer = self.behaviours[service][method](request, Mock())
        if descriptor.server_streaming:
            await anext(answer, None)
            await answer.aclose()
        else:
            await answer

    def fields(self, call: str, fields: Any) -> Mapping[str, Any]:
        """What the request of an RPC holds: what the table of requests says, and the objects that its fields name."""
        chosen = self.requests().get(call, {})
        ids = {
            "instance_id": self.objects["instance"],
            "knowledge_base_id": self.objects["base"],
            "agent_id": self.objects["agent"],
            "person_id": self.objects["person"],
            "subscription_id": self.objects["subscription"],
            "key_id": self.objects["key"],
            "file_id": self.objects["file"],
            "file_hash": self.objects["file"],
            "session_id": "s1",
            "message_id": "send-4711",
            "delivery_id": 4711,
            "snippet_id": 4711,
            "approval_id": 4711,
            "push_id": 4711,
            "source_id": 4711,
            "chunk_id": self.objects["chunk"],
            "channel_id": "http-webhook",
            "query": "pump",
        }
        return {**{field.name: ids[field.name] for field in fields if field.name in ids}, **chosen}

    async def tool(self, person: Person, call: str) -> None:
        name, _, variant = call.partition(" ")
        instance = {"instanceId": self.objects["instance"]}
        arguments: Mapping[str, Mapping[str, Any]] = {
            "list_conversations {instance}": {"instanceIds": [self.objects["instance"]]},
            "read_conversation": {**instance, "sessionId": "s1"},
            "change_conversation": {**instance, "sessionId": "s1", "state": "closed"},
            "add_note": {**instance, "sessionId": "s1", "text": "Hello"},
            "send_message": {**instance, "sessionId": "s1", "text": "Hello"},
            "decide_approval": {"approvalId": 4711, "decision": "approved"},
            "search_knowledge": {"knowledgeBase": self.objects["base"], "query": "pump"},
            "read_chunk": {"chunkId": self.objects["chunk"]},
            "read_file": {"fileId": self.objects["file"]},
        }
        kind = TOOLS[name].model_validate(arguments.get(f"{name} {variant}".strip(), {}))
        await kind.run(self.services, await self.caller(person))

    async def resources(self, person: Person, _: str) -> None:
        await resources.listed(self.services, await self.caller(person), None)

    async def resource(self, person: Person, name: str) -> None:
        kind = "knowledge-bases" if name == "{base}" else "files"
        uri = f"switchboard://{kind}/{name}".format(**self.objects)
        await resources.read(self.services, await self.caller(person), uri)

    def bodies(self) -> Mapping[str, Mapping[str, Any]]:
        """The options of requests, by the calls that need some."""
        instance, agent = "channel-instances/{instance}", "agents/{agent}"
        checks: Any = {"json": {"config": {}}}
        letters = {"json": {"items": [{"instanceId": self.objects["instance"], "messageId": "send-4711"}]}}
        bodies: dict[str, Any] = {
            "POST channel-instances": {"json": NEW},
            "POST channels": {"json": NEW},
            "POST notifications/read": {"json": {"upTo": 1}},
            "PUT me/notifications": {"json": {}},
            "PUT me/notifications {instance}": {
                "json": {"notifyVia": {"instanceId": self.objects["instance"], "to": "1"}}
            },
            "POST channel-instances {instance}": {"json": {**BODY, "id": self.objects["instance"]}},
            f"PUT {instance}": {"json": {"config": {}}},
            f"PUT {instance}/permissions": {"json": SHARED},
            f"PUT {instance}/trusted": {"json": {"trusted": True}},
            "POST channel-forms/{type}/check": checks,
            "POST channel-forms/{type}/check-credentials": checks,
            f"POST {instance}/check": checks,
            f"POST {instance}/check-credentials": checks,
            f"POST {instance}/messages": {"json": {"sessionId": "s1", "text": "Hello"}},
            f"PUT {instance}/conversations/{{session}}/handler": {"json": {"handler": "person"}},
            f"PUT {instance}/conversations/{{session}}/state": {"json": {"state": "closed"}},
            f"POST {instance}/conversations/{{session}}/notes": {"json": {"text": "Hello"}},
            "POST snippets": {"json": {"name": "New", "text": "Hello"}},
            "PUT snippets/{delivery}": {"json": {"text": "Hello"}},
            "POST approvals/{delivery}/decision": {"json": {"decision": "approved"}},
            "POST dead-letters/replay": letters,
            "POST dead-letters/drop": letters,
            "PUT people/{person}": {"json": {"name": "Renamed"}},
            "POST people/{person}/merge": {"json": {"personIds": [4711]}},
            "POST people/{person}/split": {
                "json": {"conversations": [{"instanceId": self.objects["instance"], "sessionId": "other"}]}
            },
            "PUT budgets": {"json": {"instanceId": self.objects["instance"], "tokens": 1000}},
            "PUT budgets of a user": {"json": {"userId": "stranger", "tokens": 1000}},
            "POST event-subscriptions": {"json": {"url": "https://127.0.0.1:1/others"}},
            "PUT event-subscriptions/{subscription}": {"json": {"status": ON}},
            "POST agents": {"json": {"name": "New", "kind": "http", "settings": {"url": "http://10.0.0.1"}}},
            f"PUT {agent}": {"json": {"name": "Renamed"}},
            f"PUT {agent}/permissions": {"json": SHARED},
            f"PUT {agent}/trusted": {"json": {"trusted": True}},
            f"POST {agent}/test": {"json": {"text": "Hello"}},
            "POST resources/try": {"json": {"downStreamResourceId": "agent::support"}},
            "POST kb": {"json": {"name": "New"}},
            "PUT kb/{base}": {"json": {"name": "Renamed"}},
            "PUT kb/{base}/permissions": {"json": {"userId": "somebody", "permission_level": 1}},
            "POST kb/{base}/search": {"json": {"query": "pump"}},
            "POST kb/{base}/search/explain": {"json": {"query": "pump"}},
            "POST kb/{base}/ask": {"json": {"question": "When is the pump serviced?"}},
            "POST kb/{base}/pages": {"json": {"url": "https://127.0.0.1:1/"}},
            "POST kb/{base}/uploadfile": {
                "files": {"file": ("b.txt", b"Another pump.")},
                "headers": {"prefer": "respond-async"},
            },
            "POST users": {"json": {"id": "new"}},
            "PUT users/{user}": {"json": {"name": "Renamed"}},
            "POST invitations": {"json": {"email": "new@example.com"}},
            "POST teams": {"json": {"name": "New"}},
            "PUT teams/{team}": {"json": {"members": [{"userId": "leads the team", "lead": True}]}},
            "PUT teams/{team} name": {"json": {"name": "Renamed"}},
            "POST keys": {"json": {"role": "responder", "scopes": ["admin"]}},
            "POST keys for another": {
                "json": {"userId": "somebody", "role": "responder", "scopes": ["admin"]}
            },
            "POST verification/start-email": {"json": {"email": "ann@example.com"}},
            "POST verification/verify-email": {"json": {"otp": "123456"}},
            "POST verification/bot-messenger-callback": {
                "json": {"token": "x", "bot_messenger_id": "1", "phone": "+441632960001"}
            },
        }
        return {call.replace(" ", " /api/agent/", 1): options for call, options in bodies.items()}

    def requests(self) -> Mapping[str, Mapping[str, Any]]:
        """Fields of the requests of RPCs, by the calls that need some beside the ids of objects."""
        instance = self.objects["instance"]
        config = {"config_json": "{}"}
        letters = {"items": [{"instance_id": instance, "message_id": "send-4711"}]}
        new = {**config, "channel_name": "New"}
        return {
            "CatalogueService/GetDefinition": {"id": "http-webhook"},
            "ConfigCheckService/CheckConfig": {**config, "channel_id": ""},
            "ConfigCheckService/CheckConfig new": {"channel_id": "http-webhook", **config, **NONE},
            "ConfigCheckService/CheckCredentials": {**config, "channel_id": ""},
            "ConfigCheckService/CheckCredentials new": {"channel_id": "http-webhook", **config, **NONE},
            "InstanceService/CreateInstance": new,
            "NotificationService/MarkNotificationsRead": {"up_to": 1},
            "NotificationService/SetNotificationSettings {instance}": {
                "notify_via": {"instance_id": instance, "to": "1"}
            },
            "InstanceService/CreateInstance {instance}": {**new, "id": instance},
            "InstanceService/UpdateInstance": config,
            "InstanceService/SetInstancePermission": {"user_id": "somebody", "level": 1},
            "InstanceService/ReleaseUnanswered": {"message_id": 4711},
            "InstanceService/ListVisibleInstances": {"own": True},
            "MessageService/SendMessage": {"text": "Hello", "snippet_id": None},
            "MessageService/ListTimelines": {"message_ids": ["send-4711"]},
            "ConversationService/ListConversations": {"query": "", **NONE},
            "ConversationService/ListConversations {instance}": {"query": ""},
            "ConversationService/SetHandler": {"handler": "person"},
            "ConversationService/ChangeConversation": {"change": {"state": "closed"}},
            "ConversationService/AddNote": {"text": "Hello"},
            "SnippetService/CreateSnippet": {"name": "New", "text": "Hello"},
            "SnippetService/ChangeSnippet": {"text": "Hello"},
            "ApprovalService/DecideApproval": {"decision": "approved"},
            "FeedbackService/ListFeedback {instance}": {"instance_ids": [instance]},
            "MonitoringService/ListDeadLetters": NONE,
            "MonitoringService/GetFigures": {"period": "day", **NONE},
            "MonitoringService/GetFigures {instance}": {"period": "day"},
            "MonitoringService/ReplayDeadLetters": letters,
            "MonitoringService/DropDeadLetters": letters,
            "ReportService/ListReports {instance}": {"instance_ids": [instance]},
            "PeopleService/ChangePerson": {"person_id": self.objects["person"], "name": "Renamed"},
            "PeopleService/MergePeople": {"person_id": self.objects["person"], "person_ids": [4711]},
            "PeopleService/SplitPerson": {
                "person_id": self.objects["person"],
                "conversations": [{"instance_id": instance, "session_id": "other"}],
            },
            "PrivacyService/GetPrivacyRequest": {"request_id": 4711},
            "UsageService/ListUsage {instance}": {"instance_ids": [instance]},
            "BudgetService/SetBudget {instance}": {"instance_id": instance, "tokens": 1000},
            "BudgetService/SetBudget": {"user_id": "stranger", "tokens": 1000, **NONE},
            "BudgetService/DeleteBudget": {"budget_id": 4711},
            "Events/Watch {instance}": {"instance_ids": [instance]},
            "SubscriptionService/CreateSubscription": {"url": "https://127.0.0.1:1/others"},
            "SubscriptionService/ChangeSubscription": {"fields": {"status": ON}},
            "AgentService/CreateAgent": {
                "name": "New", "kind": "http", "settings_json": '{"url": "http://10.0.0.1"}'
            },
            "AgentService/UpdateAgent": {"change": {"name": "Renamed"}},
            "AgentService/SetAgentPermission": {"user_id": "somebody", "level": 1},
            "AgentService/TestAgent": {"text": "Hello"},
            "ResourceService/TryResource": {"resource_id": "agent::support"},
            "KnowledgeService/GetBase": {"id": self.objects["base"]},
            "KnowledgeService/CreateBase": {"name": "New"},
            "KnowledgeService/UpdateBase": {"id": self.objects["base"], "name": "Renamed"},
            "KnowledgeService/DeleteBase": {"id": self.objects["base"]},
            "KnowledgeService/ListPermissions": {"id": self.objects["base"]},
            "KnowledgeService/SetPermission": {
                "id": self.objects["base"], "user_id": "somebody", "permission_level": 1
            },
            "KnowledgeService/Upload": {
                "start": {"knowledge_base_id": self.objects["base"], "respond_async": True}
            },
            "QuestionService/Ask": {"question": "When is the pump serviced?"},
            "SourceService/AddPages": {"url": "https://127.0.0.1:1/"},
            "UserService/ListUsers": {"query": ""},
            "UserService/GetUser": {"user_id": "stranger"},
            "UserService/CreateUser": {"id": "new", "role": "member"},
            "UserService/ChangeUser": {"user_id": "stranger", "name": "Renamed"},
            "UserService/DeleteUser": {"user_id": "stranger"},
            "InvitationService/CreateInvitation": {"email": "new@example.com", "role": "member"},
            "InvitationService/RevokeInvitation": {"invitation_id": 4711},
            "PasskeyService/AddPasskey": {"state": "x", "credential": "{}", "name": "Phone"},
            "PasskeyService/RemovePasskey": {"passkey_id": 4711},
            "PasskeyService/ResetPasskeys": {"user_id": "stranger"},
            "TeamService/GetTeam": {"team_id": self.objects["team"]},
            "TeamService/CreateTeam": {"name": "New"},
            "TeamService/ChangeTeam": {
                "team_id": self.objects["team"],
                "members": {"values": [{"user_id": "leads the team", "lead": True}]},
            },
            "TeamService/ChangeTeam name": {"team_id": self.objects["team"], "name": "Renamed"},
            "TeamService/DeleteTeam": {"team_id": self.objects["team"]},
            "KeyService/CreateKey": {"role": "responder", "scopes": {"values": ["admin"]}},
            "KeyService/CreateKey for another": {
                "role": "responder", "scopes": {"values": ["admin"]}, "user_id": "somebody"
            },
            "VerificationService/RemoveIdentity": {
                "identity": {"field": "email", "value": "nobody@example.com"}
            },
            "VerificationService/StartEmail": {"email": "ann@example.com"},
            "VerificationService/VerifyEmail": {"otp": "123456"},
            "VerificationService/StartOAuth": {"provider": "workspace-chat"},
            "VerificationService/CompleteBotMessenger": {
                "token": "x", "bot_messenger_id": "1", "phone": "+441632960001"
            },
        }  # fmt: skip


async def _pieces(start: Any) -> AsyncIterator[Any]:
    """The stream of an upload."""
    kind: Any = type(start)
    yield start
    yield kind(file={"file_name": "b.txt"})
    yield kind(data=b"Another pump.")
