"""What the platforms post for the kinds of messages of kinds.feature."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp
from adapters.outbound.channels.enterprise_chat.tests import samples as teams
from adapters.outbound.channels.gaming_chat.tests import samples as discord
from adapters.outbound.channels.gaming_chat.webhook import FORWARDER_HEADER
from adapters.outbound.channels.sms_provider.tests import samples as sms
from adapters.outbound.channels.tests.support import call
from adapters.outbound.channels.workspace_chat.tests import samples as slack
from domain.channels.messages import RawCall
from tests.support.platforms.discord import APPLICATION, Discord
from tests.support.platforms.slack import BOT as SLACK_BOT
from tests.support.platforms.slack import Slack
from tests.support.platforms.standin import StandIn
from tests.support.platforms.telegram import TOKEN, USERNAME, Telegram
from tests.support.platforms.twilio import Twilio
from tests.support.platforms.whatsapp import WhatsApp

SAID = "The server is down since noon"
LINKED = "\N{GRINNING FACE} Read the article and code"
ADDRESS = "https://example.com/post?a=1"
LINK = [{"type": "text_link", "offset": 8, "length": 11, "url": ADDRESS}]
HTML = f'<p>\N{GRINNING FACE} Read <a href="{ADDRESS}">the article</a> and code</p>'
FORWARD = f'<blockquote itemtype="http://schema.skype.com/Forward"><p>{SAID}</p></blockquote>'
LOG = "https://ci.example/log"
GROUP = {"id": -1001, "type": "supergroup", "title": "Engine room"}
CHANNEL = {"id": -1007, "type": "channel", "title": "Alerts"}
PHOTO = [{"file_id": "engine", "file_unique_id": "u", "width": 9, "height": 9}]
ADA = {"id": 5550001, "is_bot": False, "first_name": "Ada"}
OWN = {"id": int(TOKEN.partition(":")[0]), "is_bot": True, "first_name": "Bot"}
numbers = itertools.count(1)

Post = Callable[[datetime], RawCall]


def telegram_message(kind: str = "message", **content: Any) -> Post:
    number = next(numbers)
    chat = {"id": ADA["id"], "type": "private"}
    message = {"message_id": number, "from": ADA, "chat": chat, "date": 1780000015, **content}
    return lambda at: telegram.posted({"update_id": number, kind: message})


def forwarded(**origin: Any) -> Post:
    return telegram_message(text=SAID, forward_origin={"date": 1780000000, **origin})


def quoting(**original: Any) -> Post:
    message = {"message_id": 3, "from": {**ADA, "first_name": "Bob"}, **original}
    return telegram_message(text="Well?", reply_to_message=message)


def in_group(**content: Any) -> Post:
    mention = [{"type": "mention", "offset": 0, "length": len(USERNAME) + 1}]
    return telegram_message(chat=GROUP, text=f"@{USERNAME} help", entities=mention, **content)


TELEGRAM: Mapping[str, Post] = {
    "a message of a person is forwarded": forwarded(
        type="user", sender_user={"id": 2, "is_bot": False, "first_name": "Bob", "last_name": "Ray"}
    ),
    "a message of a hidden person is forwarded": forwarded(
        type="hidden_user", sender_user_name="Bob in secret"
    ),
    "a message of a channel is forwarded": forwarded(type="channel", chat=CHANNEL, message_id=7),
    "the bot alone is mentioned in reply to a message": telegram_message(
        chat=GROUP, text=f"@{USERNAME}", reply_to_message={"message_id": 3, "from": ADA, "text": SAID}
    ),
    "a link arrives in a text": telegram_message(text=LINKED, entities=LINK),
    "a link arrives in a caption": telegram_message(photo=PHOTO, caption=LINKED, caption_entities=LINK),
    "a link arrives in a text that shows it": telegram_message(
        text="See example.com now",
        entities=[{"type": "text_link", "offset": 4, "length": 11, "url": "https://example.com/"}],
    ),
    "a link arrives in a quoted message": quoting(text=LINKED, entities=LINK),
    "a link arrives in a quoted caption": quoting(photo=PHOTO, caption=LINKED, caption_entities=LINK),
    "a link arrives in the marked words": telegram_message(
        text="Well?",
        reply_to_message={"message_id": 3, "from": ADA, "text": LINKED, "entities": LINK},
        quote={"text": "the article", "position": 8, "entities": [{**LINK[0], "offset": 0}]},
    ),
    "a link arrives in a button": telegram_message(
        text="Build failed",
        reply_markup={
            "inline_keyboard": [[{"text": "Log", "url": LOG}, {"text": "Again", "callback_data": "again"}]]
        },
    ),
    "the name of the bot in an address arrives": telegram_message(
        chat=GROUP,
        text="See it",
        entities=[
            {"type": "text_link", "offset": 4, "length": 2, "url": f"https://example.com/?u=@{USERNAME}"}
        ],
    ),
    "a location arrives": telegram_message(location={"latitude": 51.5014, "longitude": -0.1419}),
    "a venue arrives": telegram_message(
        location={"latitude": 51.5, "longitude": -0.14},
        venue={
            "location": {"latitude": 51.5, "longitude": -0.14},
            "title": "Works",
            "address": "Mill Lane 1",
        },
    ),
    "a contact arrives": telegram_message(
        contact={"phone_number": "+441632960000", "first_name": "Charles", "user_id": 5550002}
    ),
    "a poll arrives": telegram_message(poll={"id": "1", "question": "Tea?", "options": []}),
    "a checklist arrives": telegram_message(checklist={"title": "Shopping", "tasks": []}),
    "a story arrives": telegram_message(story={"chat": CHANNEL, "id": 1}),
    "paid media arrives": telegram_message(paid_media={"star_count": 5, "paid_media": [{"type": "preview"}]}),
    "a poll in reply to the bot arrives": telegram_message(
        chat=GROUP, poll={"id": "1"}, reply_to_message={"message_id": 3, "from": OWN, "text": "Tea?"}
    ),
    "a message that was pinned arrives": telegram_message(pinned_message={"message_id": 3, "date": 1}),
    "a poll in a group arrives": telegram_message(chat=GROUP, poll={"id": "1"}),
    "a tick of a checklist arrives": telegram_message(
        "edited_message", checklist={"title": "x", "tasks": []}
    ),
    "a post of the channel of a group arrives": in_group(
        **{"from": {"id": 777000, "is_bot": False, "first_name": "Telegram"}},
        sender_chat=CHANNEL,
        is_automatic_forward=True,
    ),
    'an anonymous admin asks "help" in a group': in_group(
        **{
            "from": {"id": 1087968824, "is_bot": True, "username": "GroupAnonymousBot", "first_name": "Group"}
        },
        sender_chat=GROUP,
    ),
    'a person who writes as a channel asks "help" in a group': in_group(
        **{"from": {"id": 136817688, "is_bot": True, "username": "Channel_Bot", "first_name": "Channel"}},
        sender_chat=CHANNEL,
    ),
}


def slack_event(name: str = "message_im", **content: Any) -> Post:
    def posted(at: datetime) -> RawCall:
        body = slack.fixture(name)
        body["event"] |= content
        return slack.as_posted(name, body, at)

    return posted


def share(**message: Any) -> list[dict[str, Any]]:
    return [
        {"is_share": True, "is_msg_unfurl": True, "channel_id": "C0OTHER", "ts": "1767220000.1", **message}
    ]


FILE = {"id": "F1", "name": "engine.png", "mimetype": "image/png"}
RICH = [{"type": "rich_text_section", "elements": [{"type": "text", "text": SAID}]}]
MENTION = slack_event("app_mention", text=f"<@{SLACK_BOT}> look", ts="1767225600.000100")
WITH_FILE = slack_event(
    "message_mention",
    text=f"<@{SLACK_BOT}> look",
    ts="1767225600.000100",
    subtype="file_share",
    files=[FILE],
)
SLACK: Mapping[str, Post] = {
    "a link arrives in a forwarded card": slack_event(
        text="", attachments=share(author_name="CI", text="", title="Build failed", title_link=LOG)
    ),
    "a forwarded message arrives": slack_event(
        text="", attachments=share(author_id="U2", author_name="Bob", text=SAID)
    ),
    "blocks alone arrives": slack_event(text="", blocks=[{"type": "huddle"}]),
    "a message of blocks arrives": slack_event(text="", blocks=[{"type": "rich_text", "elements": RICH}]),
    "a mention": MENTION,
    "a mention with a file": WITH_FILE,
    "a mention again": slack_event("message_mention", text=f"<@{SLACK_BOT}> look", ts="1767225600.000100"),
}
PROGRAM: Mapping[str, Post] = {
    "a forwarded message arrives": slack_event(
        text="",
        attachments=[
            {"is_msg_unfurl": True, "text": ""},
            *share(
                author_name="Alerts",
                text="",
                message_blocks=[{"message": {"blocks": [{"type": "rich_text", "elements": RICH}]}}],
            ),
        ],
    ),
}


def discord_message(name: str = "message_dm", **content: Any) -> Post:
    message = discord.fixture(name) | {"attachments": []} | content
    return lambda at: call(as_json=message, headers={FORWARDER_HEADER: str(discord.CONFIG["botToken"])})


EMBED = {"type": "rich", "title": "Build failed", "url": LOG}
DISCORD: Mapping[str, Post] = {
    "a forwarded message arrives": discord_message(
        content="",
        message_reference={"type": 1, "channel_id": "5", "message_id": "6"},
        message_snapshots=[{"message": {"type": 0, "content": SAID, "attachments": []}}],
    ),
    "a link arrives in a forwarded card": discord_message(
        content="",
        message_snapshots=[{"message": {"type": 0, "content": "", "embeds": [EMBED]}}],
    ),
    "a link arrives in a card that is replied to": discord_message(
        content="Well?",
        referenced_message={
            "id": "1",
            "content": "",
            "author": {"id": "2", "username": "CI", "bot": True},
            "embeds": [EMBED],
        },
    ),
    "a forwarded sticker arrives": discord_message(
        content="",
        message_snapshots=[
            {"message": {"type": 0, "content": "", "sticker_items": [{"id": "1", "name": "Hi"}]}}
        ],
    ),
    "the bot alone is mentioned in reply to a message": discord_message(
        "message_mention",
        content=f"<@{APPLICATION}>",
        referenced_message={"id": "1", "content": SAID, "author": {"id": "2", "username": "Bob"}},
    ),
    "a poll arrives": discord_message(content="", poll={"question": {"text": "Tea?"}}),
    "a sticker arrives": discord_message(content="", sticker_items=[{"id": "1", "name": "Hi"}]),
}


def activity(text: str, *attachments: dict[str, Any]) -> Post:
    body = teams.fixture("message_personal") | {"text": text, "attachments": list(attachments)}
    return lambda at: call(as_json=body)


CARD = {
    "contentType": "application/vnd.microsoft.card.adaptive",
    "content": {
        "type": "AdaptiveCard",
        "body": [{"type": "TextBlock", "text": "Build failed"}],
        "actions": [{"type": "Action.OpenUrl", "title": "Log", "url": LOG}],
    },
}
REFERENCE = {
    "originalMessageId": "1",
    "originalMessageContent": f"<p>{SAID}</p>",
    "originalSentDateTime": "2026-11-05T12:00:00Z",
    "originalMessageSender": {"user": {"id": "u", "displayName": "Bob"}},
}
TEAMS: Mapping[str, Post] = {
    "a forwarded message arrives": activity("", {"contentType": "text/html", "content": FORWARD}),
    "a forwarded message with a comment arrives": activity(
        f"see this\r\n\r\n{SAID}", {"contentType": "text/html", "content": f"<p>see this</p>{FORWARD}"}
    ),
    "a link arrives in a message": activity(LINKED, {"contentType": "text/html", "content": HTML}),
    "a link arrives around a picture": activity(
        "look", {"contentType": "text/html", "content": f'<p>look <a href="{LOG}"><img src="a.png"></a></p>'}
    ),
    "a link arrives in a forwarded card": activity(
        "", {"contentType": "text/html", "content": FORWARD.replace(SAID, "")}, CARD
    ),
    "a card of a program arrives": activity("", CARD),
    "a card arrives": activity("", {"contentType": "application/vnd.microsoft.card.adaptive", "content": {}}),
}
AS_REFERENCE: Mapping[str, Post] = {
    "a forwarded message arrives": activity(
        "", {"contentType": "forwardedMessageReference", "content": json.dumps(REFERENCE)}
    ),
}


def whatsapp_message(name: str, **content: Any) -> Post:
    body = whatsapp.fixture(name)
    body["entry"][0]["changes"][0]["value"]["messages"][0] |= content
    return lambda at: whatsapp.posted(body)


ITEM = {"product_retailer_id": "SKU-7", "quantity": 2, "item_price": 4.5, "currency": "EUR"}
WHATSAPP: Mapping[str, Post] = {
    "a location arrives": whatsapp_message("location"),
    "a contact arrives": whatsapp_message("contacts"),
    "an order arrives": whatsapp_message(
        "text", type="order", order={"catalog_id": "c1", "text": "with care", "product_items": [ITEM]}
    ),
    "a poll arrives": whatsapp_message("unsupported"),
}


def sms_message(**fields: str) -> Post:
    return lambda at: call(form={**sms.MESSAGE, "Body": "", "NumMedia": "0", **fields}, url=sms.URL)


SMS: Mapping[str, Post] = {
    "a location arrives": sms_message(
        Latitude="51.5014", Longitude="-0.1419", Label="Works", Address="Mill Lane 1"
    ),
    "a poll arrives": sms_message(MessageType="poll"),
}


@dataclass(frozen=True)
class Kinds:
    """A platform; `setting` is that of its address, below which its API stands at `api`."""

    channel_id: str
    setting: str
    config: Mapping[str, Any]
    standin: type[StandIn]
    posts: Mapping[str, Post]
    api: str = ""


def on_slack(posts: Mapping[str, Post]) -> Kinds:
    return Kinds("workspace-chat", slack.SETTING, slack.CONFIG, Slack, posts, "/api")


def on_teams(posts: Mapping[str, Post]) -> Kinds:
    return Kinds("enterprise-chat", "ENTERPRISE_CHAT_LOGIN_URL", {}, StandIn, posts)


PLATFORMS: Mapping[str, Kinds] = {
    "Telegram": Kinds("bot-messenger", telegram.SETTING, telegram.CONFIG, Telegram, TELEGRAM),
    "Slack": on_slack(SLACK),
    "Slack, sent by a program": on_slack(PROGRAM),
    "Discord": Kinds("gaming-chat", discord.SETTING, discord.CONFIG, Discord, DISCORD),
    "Teams": on_teams(TEAMS),
    "Teams, as a reference": on_teams(AS_REFERENCE),
    "WhatsApp": Kinds("business-messaging", whatsapp.SETTING, whatsapp.CONFIG, WhatsApp, WHATSAPP),
    "SMS": Kinds("sms-provider", "SMS_PROVIDER_API_URL", sms.CONFIG, Twilio, SMS),
}
