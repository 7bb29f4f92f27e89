"""The REST API of the service, straight or over a remote core: both answer in the same words."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from apps.http_gateway.main import build_remote_gateway
from apps.processes.standalone import build_gateway
from domain.access.model import Role
from tests.drivers.world import PATIENCE, World

BASE = "http://localhost:3011"
INSTANCES = "/api/agent/channel-instances"

WORDS = {
    200: "done",
    201: "created",
    202: "accepted",
    204: "done",
    400: "invalid",
    401: "not known",
    403: "forbidden",
    404: "not found",
    405: "not allowed",
    409: "conflict",
    413: "too large",
    502: "failed",
    503: "away",
    504: "timed out",
}


@dataclass(frozen=True)
class Reply:
    """How a request ended: a word, and what came with it."""

    outcome: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> str:
        return str(self.body["error"])


class Rest:
    """Over HTTP, to the gateway of the same process."""

    def __init__(self, world: World) -> None:
        self._world = world
        if type(self) not in world.gateways:
            world.gateways[type(self)] = self._gateway()
        self.app = world.gateways[type(self)]
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url=BASE, timeout=40)

    def _gateway(self) -> Any:
        return build_gateway(self._world.container)

    def request(self, method: str, path: str, user: str | None = None, **options: Any) -> httpx.Response:
        """One request, with the key of a user when one is named."""
        headers = dict(options.pop("headers", {}))
        if user is not None:
            role = Role.ADMIN if user == "admin" else Role.MEMBER
            headers["authorization"] = f"Bearer {self._world.key_of(user, role)}"
        return self._world.run(self.client.request(method, path, headers=headers, **options))

    def _asked(self, method: str, path: str, user: str, body: Any = None) -> Reply:
        response = self.request(method, path, user, **({} if body is None else {"json": body}))
        return Reply(WORDS[response.status_code], _json(response.content), response.headers)

    def definitions(self, user: str) -> Reply:
        return self._asked("GET", "/api/agent/channels", user)

    def definition(self, user: str, channel_id: str) -> Reply:
        return self._asked("GET", f"/api/agent/channels/{channel_id}", user)

    def create(self, user: str, body: Mapping[str, Any]) -> Reply:
        return self._asked("POST", INSTANCES, user, body)

    def update(self, user: str, instance_id: int, body: Mapping[str, Any]) -> Reply:
        return self._asked("PUT", f"{INSTANCES}/{instance_id}", user, body)

    def trust(self, user: str, instance_id: int, *, trusted: bool) -> Reply:
        return self._asked("PUT", f"{INSTANCES}/{instance_id}/trusted", user, {"trusted": trusted})

    def delete(self, user: str, instance_id: int) -> Reply:
        return self._asked("DELETE", f"{INSTANCES}/{instance_id}", user)

    def instances(self, user: str) -> Reply:
        return self._asked("GET", INSTANCES, user)

    def instance(self, user: str, instance_id: int) -> Reply:
        return self._asked("GET", f"{INSTANCES}/{instance_id}", user)

    def health(self, user: str, instance_id: int) -> Reply:
        return self._asked("GET", f"{INSTANCES}/{instance_id}/health", user)

    def request_pairing(self, user: str, instance_id: int) -> Reply:
        return self._asked("POST", f"{INSTANCES}/{instance_id}/request-pairing", user)

    def deliveries(
        self, user: str, instance_id: int, status: str | None, limit: int = 100, offset: int = 0
    ) -> Reply:
        query = f"?limit={limit}&offset={offset}" + (f"&status={status}" if status else "")
        return self._asked("GET", f"{INSTANCES}/{instance_id}/deliveries{query}", user)

    def replay(self, user: str, instance_id: int, delivery_id: int) -> Reply:
        return self._asked("POST", f"{INSTANCES}/{instance_id}/deliveries/{delivery_id}/replay", user)

    def drop(self, user: str, instance_id: int, delivery_id: int) -> Reply:
        return self._asked("DELETE", f"{INSTANCES}/{instance_id}/deliveries/{delivery_id}", user)

    def send(self, user: str, instance_id: int, body: Mapping[str, Any], key: str | None = None) -> Reply:
        headers = {} if key is None else {"Idempotency-Key": key}
        response = self.request(
            "POST", f"{INSTANCES}/{instance_id}/messages", user, json=dict(body), headers=headers
        )
        return Reply(WORDS[response.status_code], _json(response.content), response.headers)

    def message(self, user: str, instance_id: int, message_id: str) -> Reply:
        return self._asked("GET", f"{INSTANCES}/{instance_id}/messages/{message_id}", user)

    def call(
        self, channel_id: str, instance_id: int, body: bytes, headers: Mapping[str, str], callback: str
    ) -> Reply:
        path = f"/api/agent/channels/{channel_id}/{instance_id}/{callback}"
        response = self.request("POST", path, content=body, headers=dict(headers))
        return Reply(WORDS[response.status_code], _json(response.content), response.headers)

    def close(self) -> None:
        self._world.run(self.client.aclose())


class PatientCore(CoreConnection):
    """Gives each call as long as a busy machine may need."""

    async def call(self, method: Any, request: Any, *, deadline: float = PATIENCE, **options: Any) -> Any:
        return await super().call(method, request, deadline=max(deadline, PATIENCE), **options)

    def stream(
        self, method: Any, request: Any, *, deadline: float | None = PATIENCE, **options: Any
    ) -> AsyncGenerator[Any, None]:
        return super().stream(method, request, deadline=deadline and max(deadline, PATIENCE), **options)


class RestOverGrpc(Rest):
    """Over HTTP, to a stateless gateway that reaches the core over gRPC on a real socket."""

    def _gateway(self) -> Any:
        return self._world.run(self._made())

    async def _made(self) -> Any:
        settings = self._world.settings
        core = PatientCore(f"127.0.0.1:{self._world.grpc.port}", service_key=settings.internal_service_key)
        callbacks = RemoteCallbacks(core)
        self._world.at_end += [callbacks.close, core.close]
        return build_remote_gateway(settings, core, callbacks)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content
