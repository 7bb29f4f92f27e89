"""The steps of enterprise_chat.feature that are its own."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import scenarios, when

from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from tests.features.callbacks.conftest import Chat, Instance
from tests.support.platforms.teams import APP_ID, PASSWORD, TENANT, Teams, token

scenarios("enterprise_chat.feature")

EVENTS: Mapping[str, str] = {
    "a message": "message_personal",
    "a mention in a channel": "message_channel_mention",
    "a submitted card": "message_submit",
    "a pressed button": "invoke_choice",
    "a message without a token": "message_without_token",
    "a message of another service": "message_of_another_service",
    "a message of another channel": "message_of_another_channel",
    "a message signed with an unknown key": "message_with_unknown_key",
    "a message signed with the new key": "message_with_new_key",
    "that somebody joined": "conversation_update",
    "a message of another bot": "message_of_a_bot",
}
PLACES: Mapping[str, str] = {
    "a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb": "the direct chat",
    "19:b3f0c1d2e4a5@thread.tacv2;messageid=1795176002345": "the thread of the channel",
}
REPLIES: Mapping[str, Any] = {
    'to show "Received."': {
        "statusCode": 200,
        "type": "application/vnd.microsoft.activity.message",
        "value": "Received.",
    },
}

FIXTURES = Path(__file__).parents[3] / "adapters/outbound/channels/enterprise_chat/fixtures"
ACTIVITIES: dict[str, dict[str, Any]] = {
    "message_of_another_channel": {"channelId": "webchat"},
    "message_of_a_bot": {"from": {"id": "28:another-bot"}},
    "message_with_new_key": {"id": "1795176009999", "text": "Is the hall free on Saturday?"},
}
TOKENS: dict[str, dict[str, Any]] = {
    "message_of_another_service": {"serviceurl": "https://evil.example/"},
    "message_with_unknown_key": {"kid": "key-9"},
    "message_with_new_key": {"kid": "key-2"},
}
CURRENT: list[Instance] = []


@pytest.fixture(autouse=True)
def current(instance: Instance) -> None:
    """The instance whose platform is the service URL."""
    CURRENT[:] = [instance]


def posted(name: str, at: datetime, **options: Any) -> RawCall:
    service_url = f"{CURRENT[0].driver.url}/"
    recorded = FIXTURES / f"{name}.json"
    activity = json.loads((recorded if recorded.exists() else FIXTURES / "message_personal.json").read_text())
    activity = {**activity, "serviceUrl": service_url, **ACTIVITIES.get(name, {})}
    bearer = token(at, service_url, **{**TOKENS.get(name, {}), **options})
    headers = {} if name == "message_without_token" else {"Authorization": f"Bearer {bearer}"}
    return call(as_json=activity, headers=headers)


def said(platform: Any) -> list[tuple[str, str]]:
    return [(activity["conversation"]["id"], activity["text"]) for _, activity in platform.replies]


CHAT = Chat(
    channel_id="enterprise-chat",
    config={"appId": APP_ID, "appPassword": PASSWORD, "tenantId": TENANT},
    standin=Teams,
    setting="ENTERPRISE_CHAT_LOGIN_URL ENTERPRISE_CHAT_OPENID_URL",
    call=posted,
    forged=lambda name, at: posted(name, at, aud="another app"),
    said=said,
    events=EVENTS,
    places=PLACES,
    replies=REPLIES,
)


@when("the Bot Framework signs with a new key")
def new_key(instance: Instance) -> None:
    platform = instance.driver.platform
    assert isinstance(platform, Teams)
    platform.kids = ["key-2"]
