"""Conversations for the pages that show them: a bot behind an HTTP webhook, and what people write to it."""

import json
from typing import Any

import httpx

from adapters.inbound.console.navigation import conversation_path
from domain.access.model import Role
from domain.routing.model import RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.receiver import Receiver
from tests.drivers.resource import Resource
from tests.drivers.served import ServedWorld
from tests.support.plain_http import plain_request
from tests.support.waiting import until

INSTANCES = "/api/agent/channel-instances"
BUSY = "SELECT count(*) FROM queue WHERE pending > 0 AND (held_until > now()) IS NOT TRUE"
ANSWER = "You said: **{}**\n\n- see [the manual](https://example.com/manual)\n- or `restart`"


class Talks:
    """`user` has the bot; `receiver` is where its answers go."""

    def __init__(self, world: ServedWorld, user: str, name: str = "Support") -> None:
        self.world = world
        self.user = user
        self.receiver = Receiver(world)
        self.resource = Resource(world, self._script)
        self.fails = False
        config = {"responseWebhookUrl": self.receiver.url}
        body = {"channelId": "http-webhook", "channelName": name, "config": config}
        new = {**body, "downStreamResourceId": "agent::parrot"}
        self.id = int(self.api("POST", INSTANCES, json=new).json()["instanceId"])

    def _script(self, request: RunRequest) -> RunResult:
        if self.fails:
            raise DownstreamFailed("the model is away", retryable=False)
        return RunResult(ANSWER.format(request.text))

    def api(self, method: str, path: str, user: str = "", **options: Any) -> httpx.Response:
        who = user or self.user
        key = self.world.key_of(who, Role.ADMIN if who == "admin" else Role.MEMBER)
        headers = {"authorization": f"Bearer {key}"}
        answer = plain_request(method, self.world.url + path, headers=headers, **options)
        assert answer.status_code < 400, answer.text
        return answer

    def write(self, session: str, text: str, *, settle: bool = True, **more: str) -> None:
        path = f"/api/agent/channels/http-webhook/{self.id}/webhook"
        body = json.dumps({"message": text, "sessionId": session, **more})
        headers = {"content-type": "application/json"}
        answer = plain_request("POST", self.world.url + path, content=body, headers=headers)
        assert answer.status_code == 200, answer.text
        if settle:
            self.settle()

    def settle(self) -> None:
        """Waits until nothing is to be done in either direction."""
        fetch = self.world.container.database().fetch_value
        until(lambda: self.world.run(fetch(BUSY)) == 0, "nothing is queued")

    def take_over(self, session: str, user: str = "") -> None:
        path = f"{INSTANCES}/{self.id}/conversations/{session}/handler"
        self.api("PUT", path, user, json={"handler": "person"})

    def messages(self, session: str) -> list[dict[str, Any]]:
        path = f"{INSTANCES}/{self.id}/conversations/{session}/messages"
        found: list[dict[str, Any]] = self.api("GET", path).json()["messages"]
        return found

    def address(self, session: str) -> str:
        return conversation_path(self.id, session)

    def fill(self) -> None:
        """A conversation that was answered, one whose message was given up, one that a person has."""
        self.write("ada", "The pump runs dry. What now?")
        self.fails = True
        self.write("bert", "help")
        self.fails = False
        self.write("carl", "hello")
        self.take_over("carl")
        self.write("carl", "is anybody there?")

    def close(self) -> None:
        self.receiver.close()
