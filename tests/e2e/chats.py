"""The seven chat platforms of the walk: how each calls, and what it shows of the answers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from twilio.request_validator import RequestValidator

from adapters.outbound.channels.bot_messenger.tests import samples as telegram_calls
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_calls
from adapters.outbound.channels.gaming_chat.tests import samples as discord_calls
from adapters.outbound.channels.tests.support import call
from adapters.outbound.channels.workspace_chat.tests import samples as slack_calls
from domain.channels.messages import RawCall
from tests.support.platforms import discord, mattermost, slack, teams, telegram, twilio, whatsapp
from tests.support.platforms.standin import StandIn

PICTURE = b"\x89PNG picture"
"""What the platforms give out as the file of a message."""


@dataclass(frozen=True)
class Written:
    """What a person does: writes `text`, with a file, or presses the button of `choice`. `number` makes it new."""

    number: int
    text: str = ""
    file: bool = False
    choice: str = ""


@dataclass(frozen=True)
class Chat:
    """A platform. `called` is the call of what was said, `url` its address as the platform knows it.

    `texts` are the texts that it shows, `files` the files: bytes, or the address where they are fetched.
    `replaced` tells whether the pressed prompt has lost its buttons; None where there are none, or they stay.
    `words` are more than one message holds, and few enough for the rate at which the platform takes messages.
    """

    channel_id: str
    standin: Callable[[], StandIn]
    settings: Sequence[str]
    config: Callable[[str], dict[str, Any]]
    called: Callable[[Written, StandIn, str], RawCall]
    texts: Callable[[Any], list[str]]
    files: Callable[[Any], list[bytes | str]]
    replaced: Callable[[Any], bool] | None = None
    forged_header: str = ""
    api: str = ""
    words: int = 1000


def _slack(said: Written, platform: StandIn, url: str) -> RawCall:
    now = datetime.now(UTC)
    if said.choice:
        body = slack_calls.fixture("block_actions")
        body["response_url"] = f"{platform.url}/commands/T1/1/abc"
        body["channel"], body["user"] = {"id": "D0ADA", "name": "directmessage"}, {"id": "U0ADA"}
        body["actions"] = [{"action_id": "choice_1", "value": said.choice, "action_ts": f"{said.number}.1"}]
        return slack_calls.as_posted("block_actions", body, now)
    body = slack_calls.fixture("message_im_files" if said.file else "message_im")
    body["event"] |= {"text": said.text, "ts": f"1800000000.{said.number:06d}"}
    for file in body["event"].get("files", [])[:1]:
        file["url_private_download"] = f"{platform.url}/files-pri/F1/engine.png"
    return slack_calls.as_posted("message_im", body, now)


SLACK = Chat(
    "workspace-chat",
    slack.Slack,
    ["WORKSPACE_CHAT_API_URL"],
    lambda url: slack_calls.CONFIG,
    _slack,
    lambda platform: [each["text"] for each in platform.messages],
    lambda platform: [platform.uploads[each["id"]] for each in platform.files],
    lambda platform: (
        any(each.get("replace_original") for each in platform.responses)
        or "Approved" in json.dumps(platform.updates)
    ),
    "x-slack-signature",
    "/api",
)


def _teams(said: Written, platform: Any, url: str) -> RawCall:
    service = f"{platform.url}/"
    activity: dict[str, Any] = {
        "type": "message",
        "id": f"{said.number}",
        "channelId": "msteams",
        "serviceUrl": service,
        "from": {"id": "29:1", "name": "Ada"},
        "recipient": {"id": f"28:{teams.APP_ID}", "name": "Agent"},
        "conversation": {"id": "a:1", "conversationType": "personal"},
        "text": said.text,
    }
    if said.file:
        picture = f"{platform.url}/v3/attachments/1/views/original"
        activity["attachments"] = [{"contentType": "image/png", "contentUrl": picture, "name": "engine.png"}]
    if said.choice:
        action = {"type": "Action.Execute", "verb": "decide", "data": {"choice": said.choice}}
        pressed = {"type": "invoke", "name": "adaptiveCard/action", "value": {"action": action}}
        activity |= {**pressed, "replyToId": next(reversed(platform.activities))}
    bearer = teams.token(datetime.now(UTC), service)
    return call(as_json=activity, headers={"Authorization": f"Bearer {bearer}"})


def _cards(platform: Any) -> list[bytes | str]:
    cards = [card for _, each in platform.replies for card in each.get("attachments", [])]
    return [each["content"]["buttons"][0]["value"] for each in cards if "hero" in each["contentType"]]


TEAMS = Chat(
    "enterprise-chat",
    teams.Teams,
    ["ENTERPRISE_CHAT_LOGIN_URL", "ENTERPRISE_CHAT_OPENID_URL"],
    lambda url: {"appId": teams.APP_ID, "appPassword": teams.PASSWORD, "tenantId": teams.TENANT},
    _teams,
    lambda platform: [each.get("text", "") or json.dumps(each) for _, each in platform.replies],
    _cards,
    lambda platform: "Approved" in json.dumps(list(platform.activities.values())),
    "authorization",
    words=6000,
)


def _mattermost_press(said: Written, platform: Any, url: str) -> RawCall:
    """What the server sends to the address of the button."""
    actions = [(post, action) for post in platform.posts for action in mattermost.buttons_of(post)]
    integrations = [(post, action["integration"]) for post, action in actions]
    [(post, integration)] = [each for each in integrations if each[1]["context"]["choice"] == said.choice]
    assert integration["url"] == url
    body = {"user_id": "u", "user_name": "ada", "channel_id": mattermost.CHANNEL, "type": "button"}
    body |= {"post_id": f"post{platform.posts.index(post) + 1:022d}", "trigger_id": f"t{said.number}"}
    return call(as_json={**body, "context": integration["context"]})


def _mattermost(said: Written, platform: Any, url: str) -> RawCall:
    if said.choice:
        return _mattermost_press(said, platform, url)
    file_id = "picture".ljust(26, "0")
    if said.file:
        platform.files[file_id] = ("engine.png", PICTURE)
    post = {
        "token": "hooktoken",
        "channel_id": mattermost.CHANNEL,
        "user_id": "u",
        "user_name": "ada",
        "post_id": f"post{said.number}",
        "text": said.text,
        "file_ids": file_id if said.file else "",
    }
    return call(as_json=post)


def _posted(platform: Any) -> list[bytes | str]:
    return [platform.files[each][1] for post in platform.posts for each in post.get("file_ids", [])]


MATTERMOST = Chat(
    "community-chat",
    mattermost.Mattermost,
    [],
    lambda url: {
        "SERVER_URL": url,
        "channelId": mattermost.CHANNEL,
        "token": mattermost.TOKEN,
        "webhookToken": "hooktoken",
    },
    _mattermost,
    lambda platform: [each["message"] for each in platform.posts],
    _posted,
    lambda platform: any("Approved" in each["message"] for each in platform.changed.values()),
    words=2500,
)


def _discord(said: Written, platform: StandIn, url: str) -> RawCall:
    body = discord_calls.fixture("component_button" if said.choice else "command_guild")
    body["id"] = str(846462639134600000 + said.number)
    if said.choice:
        body["data"]["custom_id"] = said.choice
        body["channel_id"] = discord_calls.fixture("command_guild")["channel_id"]
        body["member"] = discord_calls.fixture("command_guild")["member"]
    else:
        body["data"]["options"][0]["value"] = said.text
    if said.file:
        body["data"]["options"].append({"name": "file", "type": 11, "value": "9"})
        file = {"id": "9", "filename": "engine.png", "content_type": "image/png"}
        file["url"] = f"{platform.url}/attachments/1/engine.png"
        body["data"]["resolved"] = {"attachments": {"9": file}}
    return discord_calls.posted(body, datetime.now(UTC))


DISCORD = Chat(
    "gaming-chat",
    discord.Discord,
    ["GAMING_CHAT_API_URL"],
    lambda url: discord_calls.CONFIG,
    _discord,
    lambda platform: [each.get("content", "") for each in platform.originals + platform.follow_ups],
    lambda platform: list(platform.files.values()),
    lambda platform: any(
        each.get("components") == [] for each in [*platform.originals, *(body for _, body in platform.edits)]
    ),
    "x-signature-ed25519",
    "/api/v10",
)


def _telegram(said: Written, platform: StandIn, url: str) -> RawCall:
    if said.choice:
        body = telegram_calls.fixture("callback_query")
        body["callback_query"]["data"] = said.choice
        body["callback_query"]["from"] = telegram_calls.fixture("message_text")["message"]["from"]
        body["callback_query"]["message"]["chat"] = telegram_calls.fixture("message_text")["message"]["chat"]
    else:
        body = telegram_calls.fixture("message_text")
        body["message"]["text"] = said.text
    if said.file:
        body["message"]["caption"] = body["message"].pop("text")
        body["message"]["document"] = {
            "file_id": "AgFile1",
            "file_name": "engine.png",
            "mime_type": "image/png",
        }
    return telegram_calls.posted({**body, "update_id": said.number})


TELEGRAM = Chat(
    "bot-messenger",
    telegram.Telegram,
    ["BOT_MESSENGER_API_URL"],
    lambda url: telegram_calls.CONFIG,
    _telegram,
    lambda platform: [each["text"] for each in platform.of("sendMessage")],
    lambda platform: [
        *(each["photo"].content for each in platform.of("sendPhoto")),
        *(each["document"].content for each in platform.of("sendDocument")),
    ],
    lambda platform: bool(platform.of("editMessageText")),
    "x-telegram-bot-api-secret-token",
)


def _whatsapp(said: Written, platform: StandIn, url: str) -> RawCall:
    body = whatsapp_calls.fixture("text")
    message = body["entry"][0]["changes"][0]["value"]["messages"][0]
    message |= {"id": f"wamid.{said.number}", "text": {"body": said.text}}
    if said.file:
        picture = {"id": "M1", "mime_type": "image/png", "filename": "engine.png", "caption": said.text}
        message |= {"type": "document", "document": picture}
    if said.choice:
        reply = {"type": "button_reply", "button_reply": {"id": said.choice, "title": "Approve"}}
        message |= {"type": "interactive", "interactive": reply}
    return whatsapp_calls.posted(body)


WHATSAPP = Chat(
    "business-messaging",
    whatsapp.WhatsApp,
    ["BUSINESS_MESSAGING_API_URL"],
    lambda url: whatsapp_calls.CONFIG,
    _whatsapp,
    lambda platform: [json.dumps(each.get("text") or each.get("interactive")) for each in platform.messages],
    lambda platform: [each.content for each in platform.media.values()],
    forged_header="x-hub-signature-256",
)


def _twilio(said: Written, platform: StandIn, url: str) -> RawCall:
    fields = {
        "AccountSid": twilio.ACCOUNT,
        "MessageSid": f"SM{said.number:032d}",
        "From": "+4915112345678",
        "To": "+15017122661",
        "Body": said.text,
        "NumMedia": "0",
    }
    if said.file:
        fields |= {"NumMedia": "1", "MediaUrl0": f"{platform.url}/media/ME1"}
        fields |= {"MediaContentType0": "image/png"}
    signature = RequestValidator(twilio.TOKEN).compute_signature(url, fields)
    headers = {"content-type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature}
    return replace(call(headers=headers), body=urlencode(fields).encode())


TWILIO = Chat(
    "sms-provider",
    twilio.Twilio,
    ["SMS_PROVIDER_API_URL"],
    lambda url: {
        "accountSid": twilio.ACCOUNT,
        "authToken": twilio.TOKEN,
        "providerPhoneNumber": "+15017122661",
    },
    _twilio,
    lambda platform: [each.get("Body", "") for each in platform.messages],
    lambda platform: [
        each["MediaUrl"] if "MediaUrl" in each else each["Body"].rpartition(" ")[2]
        for each in platform.messages
        if "/api/agent/files/" in each.get("MediaUrl", "") + each.get("Body", "")
    ],
    forged_header="x-twilio-signature",
)

CHATS = (SLACK, TEAMS, MATTERMOST, DISCORD, TELEGRAM, WHATSAPP, TWILIO)
