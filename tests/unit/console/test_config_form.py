"""The form of each channel gives the configuration that REST takes, and never shows a secret."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from html import unescape
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from adapters.inbound.console.channel_setup import (
    config_to_save,
    fields_of,
    in_words,
    label_of,
    posted_config,
)
from adapters.inbound.rest.app import build
from adapters.inbound.rest.routing import GatewayOptions
from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import SetClock, dependencies
from adapters.outbound.system.clock import RandomIds
from domain.access.model import Caller
from domain.channels.model import ChannelDefinition, ConfigField, SetupInstructions
from domain.instances.lookup import CatalogueService
from domain.instances.model import NewInstance, SaveResult
from domain.instances.validation import faults_of
from ports.http import HttpAnswer
from tests.support.channel_samples import sample_of

REGISTRY = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}"))))
IDS = [channel.definition.id for channel in REGISTRY.all()]
CSRF = re.compile(r'name="csrf" value="(\w+)"')


class WithPigeons:
    """The channels of this repository and one of another package."""

    def __init__(self) -> None:
        fields = (ConfigField("loft", "string", "Where the pigeons live."),)
        secret = (ConfigField("whistle", "string", "How they are called.", secret=True),)
        setup = SetupInstructions("Set up pigeons", ("Feed them.",), "https://pigeons.example", False)
        pigeons = ChannelDefinition("pigeon-post", "Pigeon post", "Flies.", fields + secret, setup)
        self._channels = [*REGISTRY.all(), replace(REGISTRY.all()[0], definition=pigeons)]

    def all(self) -> list[Any]:
        return self._channels

    def find(self, channel_id: str) -> Any:
        return next((each for each in self._channels if each.definition.id == channel_id), None)


def definition_of(channel_id: str) -> Any:
    channel = REGISTRY.find(channel_id)
    assert channel is not None
    return channel.definition


@dataclass
class Instances:
    """Keeps what it is asked to create."""

    asked: list[NewInstance] = field(default_factory=list)

    async def create(self, caller: Caller, new: NewInstance) -> SaveResult:
        self.asked.append(new)
        return SaveResult(7, "created", "Instance created", True)


class Keys:
    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        return Caller("ann")


class Bases:
    async def list(self, caller: Caller) -> list[object]:
        return []


@pytest.fixture
def instances() -> Instances:
    return Instances()


@pytest.fixture
async def client(anyio_backend: str, instances: Instances) -> AsyncIterator[httpx.AsyncClient]:
    """The gateway over the catalogue of all channels; nothing is stored and no platform is called."""
    nothing: Any = None
    use_cases: Any = SimpleNamespace(
        access=Keys(), catalogue=CatalogueService(WithPigeons(), nothing), instances=instances, bases=Bases()
    )
    for name in ("callbacks", "shared", "web_chat"):
        setattr(use_cases, name, None)
    options = GatewayOptions(
        agent_url="http://localhost:3011",
        platform_url="http://localhost:3010",
        max_body=100_000,
        max_upload=100_000,
        bind=lambda _: None,
        checks={},
        metrics=nothing,
    )
    app: Any = build(use_cases, SetClock(), RandomIds(), options)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://localhost:3011",
        headers={"Authorization": "Bearer a-key"},
    ) as made:
        yield made


def typed(value: object) -> str:
    """What a person writes or picks for a value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("channel_id", IDS)
async def test_the_form_creates_the_same_instance_as_rest(
    client: httpx.AsyncClient, instances: Instances, channel_id: str
) -> None:
    config = dict(sample_of(channel_id).config)
    page = await client.get(f"/console/channels/new/{channel_id}")
    csrf = CSRF.search(page.text)
    assert csrf, page.text
    inputs = {name: typed(value) for name, value in config.items()}
    for name in inputs:
        assert f'name="config-{name}"' in page.text
    posted = {
        "csrf": csrf[1],
        "channelName": "Mine",
        "downStreamResourceId": "agent::echo",
        **{f"config-{name}": text for name, text in inputs.items()},
    }
    saved = await client.post(f"/console/channels/new/{channel_id}", data=posted)
    assert (saved.status_code, saved.headers["location"]) == (303, "/console/channels/7")
    body = {
        "channelId": channel_id,
        "channelName": "Mine",
        "config": config,
        "downStreamResourceId": "agent::echo",
    }
    assert (await client.post("/api/agent/channel-instances", json=body)).status_code == 201
    by_form, by_rest = instances.asked
    assert by_form == by_rest
    assert faults_of(definition_of(channel_id), "Mine", by_form.config, "agent::echo") == []


@pytest.mark.parametrize("channel_id", IDS)
async def test_the_form_shows_all_fields_with_their_help(client: httpx.AsyncClient, channel_id: str) -> None:
    definition = definition_of(channel_id)
    page = unescape((await client.get(f"/console/channels/new/{channel_id}")).text)
    for each in definition.fields:
        assert f'id="field-config-{each.name}"' in page
        assert in_words(definition, each.description) in page
        for choice in each.choices:
            assert f'<option value="{choice}">' in page
    assert "{base_url}" not in page
    assert "{instance_id}" not in page


@pytest.mark.parametrize("channel_id", IDS)
def test_a_change_that_leaves_the_form_as_it_was_changes_nothing(channel_id: str) -> None:
    definition, stored = definition_of(channel_id), {**sample_of(channel_id).config, "unknown": [1.5]}
    shown = fields_of(definition, stored, stored)
    assert [each.value for each in shown if each.kind == "password"] == [""] * len(
        [each for each in shown if each.kind == "password"]
    )
    posted = {each.name: each.value for each in shown}
    assert config_to_save(definition, posted, stored) == stored


def test_a_stored_secret_can_be_taken_away() -> None:
    definition = definition_of("workspace-chat")
    stored = {"botToken": "xoxb-1", "signingSecret": "s", "appToken": "xapp-1"}
    posted = {"remove-appToken": "true", "config-botToken": "xoxb-2"}
    assert posted_config(definition, posted, stored) == {"botToken": "xoxb-2", "appToken": None}
    assert config_to_save(definition, posted, stored) == {"botToken": "xoxb-2", "signingSecret": "s"}
    removable = {each.key for each in fields_of(definition, stored, stored) if each.removable}
    assert removable == {"appToken"}


def test_what_is_no_value_stays_as_it_was_typed() -> None:
    definition = definition_of("email")
    posted = {"config-smtpPort": "x" * 30, "config-imapPort": "1" * 5000, "config-smtpSecure": "perhaps"}
    assert posted_config(definition, posted, {}) == {
        "smtpPort": "x" * 30,
        "imapPort": "1" * 5000,
        "smtpSecure": "perhaps",
    }


def test_blanks_around_a_pasted_value_are_left_out() -> None:
    assert posted_config(definition_of("bot-messenger"), {"config-botToken": " 1:a\n"}, {}) == {
        "botToken": "1:a"
    }
    assert posted_config(definition_of("cron"), {"config-message": " a\r\nb "}, {}) == {"message": " a\nb "}


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("botToken", "Bot token"),
        ("SERVER_URL", "Server URL"),
        ("smtpHost", "SMTP host"),
        ("accountSid", "Account SID"),
        ("webhookUrl", "Webhook URL"),
        ("token", "Token"),
        ("名前", "名前"),
    ],
)
def test_keys_are_shown_in_words(key: str, label: str) -> None:
    assert label_of(key) == label


def test_texts_name_fields_as_the_form_does() -> None:
    definition = definition_of("enterprise-chat")
    text = "config: at least one should be given: webhookUrl, or appId together with appPassword"
    assert in_words(definition, text) == (
        "at least one should be given: “Webhook URL”, or “App ID” together with “App password”"
    )
    assert in_words(definition, "downStreamResourceId is not set: x") == "“Answered by” is not set: x"


async def test_a_channel_of_another_package_has_an_icon_and_a_form(client: httpx.AsyncClient) -> None:
    page = (await client.get("/console/channels/new")).text
    for channel_id in IDS:
        assert f'href="/console/channels/new/{channel_id}"' in page
    assert "Pigeon post" in page
    assert "channel-icon" in page.partition("Pigeon post")[0].rpartition("<li>")[2]
    form = (await client.get("/console/channels/new/pigeon-post")).text
    assert 'id="field-config-loft"' in form
    assert 'type="password"' in form
