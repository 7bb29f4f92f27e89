"""Instances of several owners on several channels, and people who write to them."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import httpx

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp
from adapters.outbound.channels.sms_provider.tests import samples as sms
from adapters.outbound.channels.workspace_chat.tests import samples as slack
from domain.channels.messages import Event, Identity, Sender
from domain.channels.model import Proof
from domain.instances.model import NewInstance
from domain.routing.model import RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.waiting import until

PEOPLE = "/api/agent/people"
MAIL = {
    "smtpHost": "smtp.example.com",
    "smtpPort": 465,
    "imapHost": "imap.example.com",
    "imapPort": 993,
    "username": "works@example.com",
    "password": "secret",
    "fromEmail": "works@example.com",
}
CHANNELS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "WhatsApp": ("business-messaging", whatsapp.CONFIG),
    "SMS": ("sms-provider", sms.CONFIG),
    "mail": ("email", MAIL),
    "Telegram": ("bot-messenger", {"botToken": telegram.TOKEN}),
    "Slack": ("workspace-chat", slack.CONFIG),
}
"""The id of each channel, and a configuration of it."""
PHONE = "+4915735980001"
ACCOUNTS: Mapping[str, Mapping[str, Sender]] = {
    "ada": {
        "WhatsApp": Sender(
            PHONE[1:], "Ada", (Identity("business-messaging", PHONE[1:]), Identity("phone", PHONE))
        ),
        "SMS": Sender(PHONE, PHONE, (Identity("phone", PHONE),)),
        "mail": Sender("ada@example.org", "Ada Lovelace", (Identity("email", "ada@example.org"),)),
        "Telegram": Sender("101", "Ada Lovelace", (Identity("bot-messenger", "101"),)),
        "Slack": Sender("U0ADA", "ada.l", (Identity("workspace-chat", "U0ADA"),)),
    },
    "bert": {
        "WhatsApp": Sender("4915735980002", "Bert", (Identity("phone", "+4915735980002"),)),
        "SMS": Sender("+4915735980002", "+4915735980002", (Identity("phone", "+4915735980002"),)),
        "mail": Sender("bert@example.org", "Bert", (Identity("email", "bert@example.org"),)),
        "Telegram": Sender("102", "Bert", (Identity("bot-messenger", "102"),)),
        "Slack": Sender("U0BERT", "bert", (Identity("workspace-chat", "U0BERT"),)),
    },
}
"""Who each person is on each channel, as its messages prove it."""
TARGETS: Mapping[str, Mapping[str, Any]] = {
    "WhatsApp": {"to": PHONE[1:], "message_id": "wamid.1"},
    "SMS": {"to": PHONE, "from": sms.CONFIG["providerPhoneNumber"]},
}
"""Where answers to ada go."""


class Scene:
    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.storage = world.container.storage()
        self.resource = Resource(world, self.answer)
        self.instances: dict[tuple[str, str], int] = {}
        self.numbers = count(1)
        self.response: httpx.Response | None = None
        self.kept: dict[str, Any] = {}

    def answer(self, request: RunRequest) -> RunResult:
        """Nothing is sent: no platform is there."""
        return RunResult("")

    def instance(self, owner: str, channel: str, **config: Any) -> int:
        """An instance of that owner on a channel, made at its first use."""
        if (owner, channel) not in self.instances:
            channel_id, settings = CHANNELS[channel]
            new = NewInstance(channel_id, channel, {**settings, **config}, "agent::x")
            made = self.world.run(self.storage.instances.add(owner, new))
            self.instances[owner, channel] = made.id
        return self.instances[owner, channel]

    def write(
        self, who: str, channel: str, text: str, owner: str = "ann", session: str = "", **more: Any
    ) -> int:
        """Stores a message as the channel would; its number in the inbox."""
        sender, number = ACCOUNTS[who][channel], next(self.numbers)
        event = Event(
            f"m{number}",
            session or sender.external_id,
            self.proved(sender, channel),
            text,
            TARGETS.get(channel, {}) if sender.external_id in (PHONE, PHONE[1:]) else {},
            is_direct=not session,
            **more,
        )
        [accepted] = self.world.run(self.storage.inbox.add(self.instance(owner, channel), [event]))
        self.settle()
        return accepted.id

    def proved(self, sender: Sender, channel: str) -> Sender:
        by_platform = channel in ("WhatsApp", "SMS")
        proof = Proof.PLATFORM if by_platform else Proof.OWNER
        return Sender(sender.external_id, sender.display_name, sender.identities, proof)

    def settle(self) -> None:
        self.world.settle()
        self.world.run(self.record())

    async def record(self) -> None:
        """Gives new senders people, as the service does every few seconds."""
        database = self.world.container.database()
        await database.execute("UPDATE person_position SET claimed_at = now() - interval '1 minute'")
        await self.world.container.people_recorder().record()

    def ask(self, method: str, path: str, user: str = "ann", **options: Any) -> httpx.Response:
        self.response = self.rest.request(method, path, user, **options)
        return self.response

    def read(self, path: str, user: str = "ann", **query: Any) -> Any:
        response = self.ask("GET", path, user, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def people(self, user: str = "ann", **query: Any) -> list[dict[str, Any]]:
        return [person for page in self.pages(user, **query) for person in page]

    def pages(self, user: str = "ann", **query: Any) -> Iterator[list[dict[str, Any]]]:
        page = self.read(PEOPLE, user, **query)
        yield page["people"]
        while page["next"]:
            page = self.read(PEOPLE, user, **query, cursor=page["next"])
            yield page["people"]

    def person(self, name: str, user: str = "ann") -> dict[str, Any]:
        [person] = [person for person in self.people(user) if person["name"] == name]
        return person

    def path(self, name: str, user: str = "ann") -> str:
        return f"{PEOPLE}/{self.person(name, user)['id']}"

    def value(self, query: str, *parameters: Any) -> Any:
        return self.world.run(self.world.container.database().fetch_value(query, parameters))

    def row(self, query: str, *parameters: Any) -> tuple[Any, ...]:
        row = self.world.run(self.world.container.database().fetch_one(query, parameters))
        assert row is not None, query
        return row

    def verify(self, user: str, who: str, channel: str) -> None:
        """A user of the platform has verified what a person is on a channel."""
        identities = ACCOUNTS[who][channel].identities
        self.world.run(self.storage.identities.give(user, identities))

    def until_listed(self, name: str) -> None:
        until(lambda: any(person["name"] == name for person in self.people()), f"{name} is listed")


def channels_of(person: dict[str, Any]) -> list[str]:
    return [conversation["channelName"] for conversation in person["conversations"]]
