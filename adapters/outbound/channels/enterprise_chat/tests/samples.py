"""What the contract suite needs of this channel."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.enterprise_chat import webhook
from adapters.outbound.channels.enterprise_chat.config import CONFIG
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Event, RawCall
from ports.http import HttpAnswer
from tests.support.platforms.teams import APP_ID, ISSUER, PASSWORD, private_key, public_jwk, token

FIXTURES = Path(__file__).parents[1] / "fixtures"
SERVICE = "https://smba.trafficmanager.net/emea/"


def fixture(name: str) -> dict[str, Any]:
    activity: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return activity


def _signed(name: str, **options: Any) -> RawCall:
    headers = {"Authorization": f"Bearer {token(NOW, SERVICE, **options)}"}
    return call(as_json=fixture(name), headers=headers)


PERSONAL = fixture("message_personal")["conversation"]["id"]
INCOMING = "https://prod-1.westeurope.logic.azure.com/workflows/1"

REPLY = (
    '<blockquote itemscope="" itemtype="http://schema.skype.com/Reply" itemid="1600457867820">'
    '<strong itemprop="mri" itemid="8:orgid:1">Bob</strong><span itemprop="time" itemid="1600457867820"></span>'
    '<p itemprop="preview">It is hot.</p></blockquote><p>Is it?</p>'
)


def replied(**changed: object) -> Event:
    """The event of a reply."""
    body = {**fixture("message_personal"), "text": "Is it?", **changed}
    return webhook.read(body).events[0]


def replied_in_html() -> Event:
    return replied(attachments=[{"contentType": "text/html", "content": REPLY}])


def replied_by_entity() -> Event:
    reply = {"messageId": "1", "senderId": "29:7", "senderName": "Bob", "preview": "It is hot."}
    entities = [{"type": "quotedReply", "quotedReply": reply}]
    return replied(text='<quoted messageId="1"/> Is it?', entities=entities)


def refused(config: dict[str, str], **changed: object) -> Event:
    """The event of a mention in a channel that is refused."""
    body = {**fixture("message_channel_mention"), **changed}
    return webhook.receive(CONFIG.load(config), call(as_json=body), {}, NOW).events[0]


SAMPLE = Sample(
    fields=(
        "webhookUrl string, appId string, appPassword string, tenantId string, "
        "identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean, requireMention boolean, allowedChannels string"
    ),
    typing_shown_seconds=3.0,
    account_by_target=True,
    config={"appId": APP_ID, "appPassword": PASSWORD},
    genuine={"message": _signed("message_personal"), "choice": _signed("invoke_choice")},
    forged={
        "no token": call(as_json=fixture("message_personal")),
        "another key": _signed("message_personal", key=private_key("another key")),
        "another app": _signed("message_personal", aud="another app"),
        "another service": _signed("message_personal", serviceurl="https://evil.example/"),
    },
    metadata={"issuer": ISSUER, "keys": [public_jwk()]},
    target={
        "serviceUrl": SERVICE,
        "conversation": "a:1",
        "bot": {"id": f"28:{APP_ID}"},
        "user": {"id": "29:1"},
        "replyTo": "1",
    },
    addresses={
        "ENTERPRISE_CHAT_LOGIN_URL": "https://login.microsoftonline.com",
        "ENTERPRISE_CHAT_OPENID_URL": "https://login.botframework.com/v1/.well-known/openidconfiguration",
    },
    shown=lambda part: str(part.payload["content"]["text"]),
    prelude=[HttpAnswer(200, {}, b'{"access_token": "t", "expires_in": 3600}')],
    openings=(
        Opening(
            PERSONAL,
            PERSONAL,
            sent_to=lambda request: (
                request.url
                == f"https://smba.trafficmanager.net/teams/v3/conversations/{quote(PERSONAL)}/activities"
                and text(request.json, "from", "id") == f"28:{APP_ID}"
            ),
            answered=lambda: webhook.read(fixture("message_personal")).events[0],
        ),
        Opening("19:meeting_Mzg@thread.v2", "19:meeting_Mzg@thread.v2"),
        Opening("webhook", "webhook", config={"webhookUrl": INCOMING}),
    ),
    no_addresses=(
        "19:",
        "29:1aVq8Xw0pT3nLk7sRz2YcGd5HfJ",
        "maria@workshop.example",
        "https://teams.microsoft.com/l/x",
    ),
    replies=(
        Reply(replied_in_html, "It is hot.", "Bob"),
        Reply(replied_by_entity, "It is hot.", "Bob"),
    ),
    refused={
        "channel": lambda: refused({"allowedChannels": "19:other"}),
        "bot": lambda: refused({}, **{"from": {"id": "28:another-bot"}}),
    },
    of_recipient=[
        refusal(403, error={"code": "ConversationBlockedByUser", "message": "blocked"}),
        refusal(403, error={"code": "BotNotInConversationRoster", "message": "removed"}),
        refusal(404, error={"code": "ConversationNotFound", "message": "gone"}),
        refusal(403, error={"code": "Forbidden", "message": '{"subCode":"MessageWritesBlocked"}'}),
    ],
)
