"""Calls a channel as the engine does: with the stored JSON objects of a config and a target."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.tests.support import NOW
from domain.channels.messages import ChannelMetadata, RawCall, Received
from domain.channels.model import ChannelDefinition, SetupInstructions
from domain.channels.typed import JsonModel
from ports.capabilities import OpenRequest
from ports.channels import Channel

NO_METADATA: ChannelMetadata = {}
INSTANCE = 7
CALLBACK = f"https://switchboard.example/api/agent/channels/any/{INSTANCE}/webhook"

TARGETED = {
    "render": "sender",
    "send": "sender",
    "limits": "limits",
    "typing": "typing",
    "react": "reactions",
    "shows_waiting": "waiting",
    "preview": "streaming",
    "draft": "streaming",
    "acknowledge_press": "button_ack",
    "close_prompt": "prompt_closer",
    "prompt_target": "prompt_closer",
    "read_quoted": "quoted_reader",
    "read_thread": "thread_reader",
}
"""Methods that take a config and a target, and the capability that has them."""
CONFIGURED = {
    "receive": "webhook",
    "fetch_metadata": "metadata",
    "answer_in_call": "call_responder",
    "read_limits": "read_limits",
    "poll": "poller",
    "acknowledge": "poll_ack",
    "watch": "push_watcher",
    "next_fire": "scheduler",
    "fired": "scheduler",
    "fires_once": "scheduler",
    "timing": "scheduler",
    "destination": "forwarding",
    "register": "registrar",
    "unregister": "registrar",
    "registered": "registrar",
    "probe": "probe",
    "fetch": "fetcher",
    "described": "describer",
    "is_bot": "sender_filter",
    "default_address": "opener",
    "wants": "connector",
    "note": "connector",
}
"""Methods that take a config first."""
PLAIN = {
    "metadata_seconds": "metadata",
    "wait_seconds": "call_responder",
    "default_interval_minutes": "poller",
    "typing_seconds": "typing",
    "unlink": "connector",
    "stored": "connector",
    "lacks": "connector",
}


class RawModel(JsonModel[Mapping[str, Any]]):
    """Leaves the JSON object as it is."""

    def __init__(self) -> None:  # has no columns
        pass

    def load(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return values

    def dump(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return dict(value)


RAW = RawModel()


class ChannelCalls:
    """All capabilities of a channel as methods of one object; `None` for one that it does not have."""

    def __init__(self, channel: Channel[Any, Any]) -> None:
        self.channel = channel
        self.definition = channel.definition

    def has(self, *capabilities: str) -> bool:
        return all(getattr(self.channel, capability) is not None for capability in capabilities)

    def continued(self, target: Any) -> dict[str, Any]:
        assert self.channel.conversation_target
        target_model = self.channel.target
        return target_model.dump(self.channel.conversation_target.continued(target_model.load(target)))

    def supersedes(self, old: Any, new: Any) -> bool:
        assert self.channel.registrar
        load = self.channel.config.load
        return self.channel.registrar.supersedes(load(old), load(new))

    async def open(self, config: Any, to: str, subject: str = "") -> tuple[str, dict[str, Any]]:
        """The session id and the JSON object of the target."""
        assert self.channel.opener
        request = OpenRequest(to=to, subject=subject, instance_id=INSTANCE, callback_address=CALLBACK)
        opened = await self.channel.opener.open(self.channel.config.load(config), request)
        return opened.session_id, self.channel.target.dump(opened.target)

    async def listen(self, instance_id: int, config: Any, *others: Any) -> None:
        assert self.channel.connector
        await self.channel.connector.listen(instance_id, self.channel.config.load(config), *others)

    def prompt_target(self, config: Any, target: Any, message: Any, ref: str, press: Any) -> Any:
        """The JSON object of the target; an empty `press` is that of a typed reply."""
        assert self.channel.prompt_closer
        load, dump = self.channel.target.load, self.channel.target.dump
        pressed = load(press) if press else None
        found = self.channel.prompt_closer.prompt_target(
            self.channel.config.load(config), load(target), message, ref, pressed
        )
        return None if found is None else dump(found)

    def __getattr__(self, name: str) -> Any:
        if name in PLAIN:
            return getattr(getattr(self.channel, PLAIN[name]), name)
        capability = TARGETED.get(name) or CONFIGURED.get(name)
        if capability is None:
            raise AttributeError(name)
        method = getattr(getattr(self.channel, capability), name)

        def call(config: Any, *arguments: Any, **named: Any) -> Any:
            first: list[Any] = [self.channel.config.load(config)]
            if name in TARGETED:
                target, *rest = arguments
                return method(*first, self.channel.target.load(target), *rest, **named)
            return method(*first, *arguments, **named)

        return call


def receiver(webhook: Any, config: Any) -> Callable[..., Received]:
    """Reads calls with stored JSON objects of a config, by the webhook and the config model of a channel."""

    def receive(
        values: Mapping[str, Any], call: RawCall, metadata: ChannelMetadata = NO_METADATA, now: datetime = NOW
    ) -> Received:
        return webhook.receive(config.load(values), call, metadata, now)

    return receive


def calls(channel: Channel[Any, Any] | None) -> ChannelCalls:
    """The calls of a channel that exists."""
    assert channel is not None
    return ChannelCalls(channel)


def a_channel(**capabilities: Any) -> Channel[Any, Any]:
    """A channel of a test with these capabilities, whose configs and targets stay JSON objects."""
    setup = SetupInstructions("Set up", (), "https://docs.example", webhook_required=False)
    definition = ChannelDefinition("any", "Any", "A channel of a test.", (), setup)
    return Channel(definition=definition, config=RAW, target=RAW, **capabilities)
