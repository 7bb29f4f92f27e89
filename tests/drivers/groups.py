"""Group chats of the platforms with buttons: how people write and press there, and what they see."""

import json
from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Any, ClassVar

from adapters.outbound.channels.bot_messenger.tests import samples as telegram_calls
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_calls
from adapters.outbound.channels.community_chat.tests import samples as mattermost_calls
from adapters.outbound.channels.gaming_chat.tests import samples as discord_calls
from adapters.outbound.channels.sms_provider.channel import BASE as SMS_BASE
from adapters.outbound.channels.sms_provider.tests import samples as sms_calls
from adapters.outbound.channels.tests.support import call
from adapters.outbound.channels.workspace_chat.tests import samples as slack_calls
from domain.channels.messages import RawCall
from tests.support.platforms import discord, mattermost, slack, teams, telegram, twilio, whatsapp

Shown = tuple[str, bool]
"""What a message reads, and whether it has buttons."""


class Group:
    """One platform. People are known by short names; `names` are those that the platform tells of them.

    `questions` are the messages with buttons as they were sent; `shown` is what one of them reads by now.
    `told` is what a person was told about a press. `public` says that this can be read by all. `named` is the message
    that a press names in place of the one with the button; `changed` are the messages that were changed.
    `direct`: it is the conversation of one person with the bot.
    """

    channel_id: ClassVar[str]
    config: ClassVar[Mapping[str, Any]] = {}
    api: ClassVar[str] = ""
    settings: ClassVar[tuple[str, ...]]

    def __init__(self, platform: Any) -> None:
        self.platform = platform
        self.names = {"ada": "Ada", "bob": "Bob"}
        self.numbers = count(1)
        self.in_thread = False
        self.last_pressed = 0
        self.named = ""
        self.direct = False

    def configured(self) -> dict[str, Any]:
        """The configuration of an instance."""
        return dict(self.config)

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        raise NotImplementedError

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        raise NotImplementedError

    def fill_in(self, who: str, values: Mapping[str, Any], at: datetime) -> RawCall:
        """Sends the latest dialog or card of a form with these values, by the names of the fields."""
        raise NotImplementedError

    def questions(self) -> list[dict[str, str]]:
        """Of each question its buttons: labels and values."""
        raise NotImplementedError

    def shown(self, number: int) -> Shown:
        raise NotImplementedError

    def told(self, who: str) -> list[str]:
        raise NotImplementedError

    def typing(self) -> int:
        """How often the platform was asked to show that somebody is writing."""
        raise NotImplementedError

    def changed(self) -> set[str]:
        raise NotImplementedError


class Slack(Group):
    channel_id = "workspace-chat"
    config = slack_calls.CONFIG
    api = "/api"
    settings = ("WORKSPACE_CHAT_API_URL",)
    users: ClassVar = {"ada": "U0ADA", "bob": "U0BOB"}
    by_command = False
    """Whether people write to the bot by a slash command."""

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        if self.by_command:
            return self.command(who, text, at)
        body = slack_calls.fixture("message_im" if self.direct else "message_mention")
        stamp = f"1800000001.{next(self.numbers):06d}"
        body["event"] |= {"user": self.users[who], "text": f"<@{slack.BOT}> {text}", "ts": stamp}
        if self.direct:
            body["event"]["text"] = text
        return slack_calls.as_posted("app_mention", body, at)

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        position, message = self._asked()[number]
        body = slack_calls.fixture("block_actions")
        stamp = f"1800000000.{position + 1:06d}"
        body["user"] = {"id": self.users[who], "username": self.names[who], "name": self.names[who]}
        body["container"] = {"type": "message", "message_ts": stamp, "channel_id": "C0ROOM"}
        if self.direct:
            body["channel"] = {"id": slack_calls.fixture("message_im")["event"]["channel"]}
        body["message"] |= {"ts": stamp, "text": message["text"], "blocks": message["blocks"]}
        body["message"].pop("thread_ts")
        if self.in_thread:
            body["message"]["thread_ts"] = stamp
        body["response_url"] = self.platform.response_url
        body["trigger_id"] = f"{next(self.numbers)}.2"
        body["actions"] = [{"action_id": "c", "value": value, "action_ts": f"{next(self.numbers)}.1"}]
        self.last_pressed = number
        return slack_calls.as_posted("block_actions", body, at)

    def fill_in(self, who: str, values: Mapping[str, Any], at: datetime) -> RawCall:
        view = self.platform.views[-1]
        states = {}
        for block in (block for block in view["blocks"] if block["type"] == "input"):
            kind, value = block["element"]["type"], values.get(block["block_id"])
            entered = (
                {"selected_option": value and {"value": value}} if "select" in kind else {"value": value}
            )
            states[block["block_id"]] = {block["element"]["action_id"]: {"type": kind, **entered}}
        body = slack_calls.fixture("block_actions")
        kept = {key: view[key] for key in ("callback_id", "private_metadata")}
        body = {
            "type": "view_submission",
            "team": body["team"],
            "user": {"id": self.users[who], "username": self.names[who], "name": self.names[who]},
            "view": {"id": f"V{len(self.platform.views)}", **kept, "state": {"values": states}},
        }
        return slack_calls.as_posted("block_actions", body, at)

    def command(self, who: str, text: str, at: datetime) -> RawCall:
        """A slash command."""
        body = slack_calls.fixture("slash_command")
        body |= {"text": text, "user_id": self.users[who], "trigger_id": f"{next(self.numbers)}.1"}
        return slack_calls.as_posted("slash_command", body | {"response_url": self.platform.response_url}, at)

    def _asked(self) -> list[tuple[int, dict[str, Any]]]:
        return [each for each in enumerate(self.sent()) if _slack_buttons(each[1])]

    def sent(self) -> list[dict[str, Any]]:
        """The messages as they were first sent: the stand-in changes them in place."""
        bodies = [each.json for each in self.platform.seen if each.path.endswith("/chat.postMessage")]
        return list({each["client_msg_id"]: each for each in bodies}.values())

    def questions(self) -> list[dict[str, str]]:
        return [
            {each["text"]["text"]: each["value"] for each in _slack_buttons(message)}
            for _, message in self._asked()
        ]

    def shown(self, number: int) -> Shown:
        replaced = [each for each in self.platform.responses if each.get("replace_original")]
        position, _ = self._asked()[number]
        message = self.platform.messages[position]
        if replaced and self.last_pressed == number:
            message = replaced[-1]
        return message["text"], bool(_slack_buttons(message))

    def told(self, who: str) -> list[str]:
        said = [each for each in self.platform.responses if each.get("response_type") == "ephemeral"]
        return [each["text"] for each in said]


def _slack_buttons(message: Mapping[str, Any]) -> list[Any]:
    rows = [each["elements"] for each in message.get("blocks", []) if each["type"] == "actions"]
    return rows[0] if rows else []


TEAMS_CHANNEL = {"id": "19:1@thread.tacv2;messageid=1", "isGroup": True}
TEAMS_CHAT = {"id": "a:1", "conversationType": "personal"}


class Teams(Group):
    channel_id = "enterprise-chat"
    config: ClassVar = {"appId": teams.APP_ID, "appPassword": teams.PASSWORD, "tenantId": teams.TENANT}
    settings = ("ENTERPRISE_CHAT_LOGIN_URL", "ENTERPRISE_CHAT_OPENID_URL")
    users: ClassVar = {"ada": "29:1", "bob": "29:2"}

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        return self._activity(who, at, type="message", text=f"<at>Agent</at> {text}")

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        action = {"type": "Action.Execute", "verb": "decide", "data": {"choice": value}}
        asked = self.named or self._asked()[number]
        return self._activity(
            who, at, type="invoke", name="adaptiveCard/action", value={"action": action}, replyToId=asked
        )

    def thumb(self, who: str, reaction: str, at: datetime) -> RawCall:
        """A press of one of the thumbs that Teams shows below the latest message: "like" or "dislike"."""
        vote = {"reaction": reaction, "feedback": json.dumps({"feedbackText": ""})}
        value = {"actionName": "feedback", "actionValue": vote}
        latest = f"1:{len(self.platform.replies)}"
        return self._activity(
            who, at, type="invoke", name="message/submitAction", value=value, replyToId=latest
        )

    def fill_in(self, who: str, values: Mapping[str, Any], at: datetime) -> RawCall:
        [number, *_] = reversed(range(len(self._asked())))
        [submit] = _teams_buttons(self.platform.activities[self._asked()[number]])
        data = {**submit["data"], **{f"field:{name}": value for name, value in values.items()}}
        action = {"type": "Action.Execute", "verb": "decide", "data": data}
        asked = self._asked()[number]
        return self._activity(
            who, at, type="invoke", name="adaptiveCard/action", value={"action": action}, replyToId=asked
        )

    def _activity(self, who: str, at: datetime, **content: Any) -> RawCall:
        service = f"{self.platform.url}/"
        activity = {
            "id": f"{next(self.numbers)}",
            "channelId": "msteams",
            "serviceUrl": service,
            "from": {"id": self.users[who], "name": self.names[who]},
            "recipient": {"id": f"28:{teams.APP_ID}", "name": "Agent"},
            "conversation": TEAMS_CHAT if self.direct else TEAMS_CHANNEL,
            **content,
        }
        return call(as_json=activity, headers={"Authorization": f"Bearer {teams.token(at, service)}"})

    def typing(self) -> int:
        return len(self.platform.typing)

    def changed(self) -> set[str]:
        return {each.path.rsplit("/", 1)[-1] for each in self.platform.seen if each.method == "PUT"}

    def _asked(self) -> list[str]:
        ids = [f"1:{number}" for number in range(1, len(self.platform.replies) + 1)]
        return [id for id, (_, sent) in zip(ids, self.platform.replies, strict=True) if _teams_buttons(sent)]

    def questions(self) -> list[dict[str, str]]:
        cards = [_teams_buttons(sent) for _, sent in self.platform.replies]
        return [{each["title"]: each["data"]["choice"] for each in card} for card in cards if card]

    def shown(self, number: int) -> Shown:
        activity = self.platform.activities[self._asked()[number]]
        card = activity["attachments"][0]["content"]
        return "\n".join(each.get("text", "") for each in card["body"]), bool(_teams_buttons(activity))

    def told(self, who: str) -> list[str]:
        begins = f"{self.names[who]}: "
        texts = [sent.get("text", "") for _, sent in self.platform.replies]
        return [each.removeprefix(begins) for each in texts if each.startswith(begins)]


def _teams_buttons(activity: Mapping[str, Any]) -> list[Any]:
    return [each for card in activity.get("attachments", []) for each in card["content"].get("actions", [])]


class Discord(Group):
    channel_id = "gaming-chat"
    config = discord_calls.CONFIG
    api = "/api/v10"
    settings = (discord_calls.SETTING,)
    users: ClassVar = {"ada": "53908232506183680", "bob": "53908232506183681"}

    def _user(self, who: str) -> dict[str, Any]:
        return {"id": self.users[who], "username": who}

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        body = discord_calls.fixture("message_mention")
        body |= {"id": f"{next(self.numbers)}", "content": f"<@{discord.APPLICATION}> {text}"}
        body |= {"author": self._user(who), "member": {"nick": self.names[who]}}
        if self.direct:
            body.pop("guild_id")
        return discord_calls.posted(body, at)

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        position, message = self._asked()[number]
        body = discord_calls.fixture("component_button")
        body |= {"id": f"{next(self.numbers)}", "member": {"user": self._user(who), "nick": self.names[who]}}
        body["message"] |= {"id": f"{8001 + position}", "content": message["content"]}
        body["data"] = {"custom_id": value, "component_type": 2}
        if self.direct:
            body.pop("guild_id")
        self.last_pressed = number
        return discord_calls.posted(body, at)

    def fill_in(self, who: str, values: Mapping[str, Any], at: datetime) -> RawCall:
        modal = next(each["data"] for each in reversed(self.platform.callbacks) if each["type"] == 9)
        components = []
        for label in modal["components"]:
            field = label["component"]
            value = values.get(field["custom_id"])
            entered = {"values": [value] if value else []} if field["type"] == 3 else {"value": value or ""}
            kept = {"type": field["type"], "custom_id": field["custom_id"]}
            components.append({"type": 18, "component": {**kept, **entered}})
        body = discord_calls.fixture("component_button")
        body |= {"id": f"{next(self.numbers)}", "member": {"user": self._user(who), "nick": self.names[who]}}
        body |= {"type": 5, "data": {"custom_id": modal["custom_id"], "components": components}}
        body["token"] += f"-{body['id']}"
        if self.direct:
            body.pop("guild_id")
        return discord_calls.posted(body, at)

    def command(self, who: str, text: str, at: datetime) -> RawCall:
        """A slash command, for which Discord shows that the bot is thinking."""
        body = discord_calls.fixture("command_guild")
        body |= {"id": f"{next(self.numbers)}", "member": {"user": self._user(who), "nick": self.names[who]}}
        body["data"]["options"][0]["value"] = text
        return discord_calls.posted(body, at)

    def typing(self) -> int:
        return len(self.platform.typing)

    def _asked(self) -> list[tuple[int, dict[str, Any]]]:
        return [each for each in enumerate(self.platform.messages) if each[1].get("components")]

    def questions(self) -> list[dict[str, str]]:
        rows = [message["components"][0]["components"] for _, message in self._asked()]
        return [{each["label"]: each["custom_id"] for each in row} for row in rows]

    def shown(self, number: int) -> Shown:
        position, message = self._asked()[number]
        edits = [body for id, body in self.platform.edits if id == str(8001 + position)]
        if self.last_pressed == number:
            edits += self.platform.originals
        latest = edits[-1] if edits else message
        return latest["content"], bool(latest.get("components"))

    def told(self, who: str) -> list[str]:
        return [each["content"] for each in self.platform.whispers]


class Telegram(Group):
    channel_id = "bot-messenger"
    config = telegram_calls.CONFIG
    settings = (telegram_calls.SETTING,)
    users: ClassVar = {"ada": 5550001, "bob": 5550002}

    def __init__(self, platform: Any) -> None:
        super().__init__(platform)
        self.presses: dict[str, str] = {}

    def _message(self, who: str, number: int, text: str) -> dict[str, Any]:
        place = {"id": -1001, "type": "group", "title": "Works"}
        if self.direct:
            place = {"id": self.users[who], "type": "private"}
        return {
            "message_id": number,
            "date": 1780000000,
            "chat": place,
            "from": self._user(who),
            "text": text,
        }

    def _user(self, who: str) -> dict[str, Any]:
        return {"id": self.users[who], "is_bot": False, "first_name": self.names[who]}

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        number = next(self.numbers)
        message = self._message(who, number, f"{text} @{telegram.USERNAME}")
        return telegram_calls.posted({"update_id": number, "message": message})

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        update, (message_id, _) = next(self.numbers), self._asked()[number]
        self.presses[str(update)] = who
        query = {"id": str(update), "from": self._user(who), "chat_instance": "-1", "data": value}
        query["message"] = self._message(who, int(self.named or message_id), "?")
        return telegram_calls.posted({"update_id": update, "callback_query": query})

    def edit(self, who: str, text: str) -> RawCall:
        """Changes the latest message of the person."""
        number = next(self.numbers)
        message = {**self._message(who, number - 1, f"{text} @{telegram.USERNAME}"), "edit_date": 1780000060}
        return telegram_calls.posted({"update_id": number, "edited_message": message})

    def press_value(self, who: str, value: str) -> RawCall:
        """A press of any button."""
        update = next(self.numbers)
        self.presses[str(update)] = who
        query = {"id": str(update), "from": self._user(who), "chat_instance": "-1", "data": value}
        query["message"] = self._message(who, 30, "?")
        return telegram_calls.posted({"update_id": update, "callback_query": query})

    def typing(self) -> int:
        return len(self.platform.of("sendChatAction"))

    def changed(self) -> set[str]:
        methods = ("editMessageText", "editMessageReplyMarkup")
        return {str(sent["message_id"]) for method in methods for sent in self.platform.of(method)}

    def _asked(self) -> list[tuple[int, dict[str, Any]]]:
        calls = enumerate(self.platform.calls, 501)
        return [(id, sent) for id, (name, sent) in calls if name == "sendMessage" and "reply_markup" in sent]

    def questions(self) -> list[dict[str, str]]:
        rows = [sent["reply_markup"]["inline_keyboard"] for _, sent in self._asked()]
        return [
            {each["text"]: each["callback_data"] for row in keyboard for each in row} for keyboard in rows
        ]

    def shown(self, number: int) -> Shown:
        message_id, sent = self._asked()[number]
        edits = [each for each in self.platform.of("editMessageText") if each["message_id"] == message_id]
        latest = edits[-1] if edits else sent
        return latest["text"], bool(latest["reply_markup"]["inline_keyboard"])

    def told(self, who: str) -> list[str]:
        answers = self.platform.of("answerCallbackQuery")
        return [each.get("text", "") for each in answers if self.presses[each["callback_query_id"]] == who]


class WhatsApp(Group):
    """A conversation of one person with the number: its messages cannot be changed."""

    channel_id = "business-messaging"
    config = whatsapp_calls.CONFIG
    settings = (whatsapp_calls.SETTING,)

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        return self._posted("text", {"text": {"body": text}})

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        return self._posted(
            "button_reply", {"interactive": {"type": "button_reply", "button_reply": {"id": value}}}
        )

    def _posted(self, name: str, content: Mapping[str, Any]) -> RawCall:
        body = whatsapp_calls.fixture(name)
        message = body["entry"][0]["changes"][0]["value"]["messages"][0]
        message |= {"id": f"wamid.in{next(self.numbers)}", **content}
        return whatsapp_calls.posted(body)

    def _asked(self) -> list[dict[str, Any]]:
        return [each["interactive"] for each in self.platform.messages if each["type"] == "interactive"]

    def questions(self) -> list[dict[str, str]]:
        return [_whatsapp_buttons(each["action"]) for each in self._asked()]

    def shown(self, number: int) -> Shown:
        return self._asked()[number]["body"]["text"], True

    def typing(self) -> int:
        return len(self.platform.read)

    def told(self, who: str) -> list[str]:
        return [each["text"]["body"] for each in self.platform.messages if each["type"] == "text"]


def _whatsapp_buttons(action: Mapping[str, Any]) -> dict[str, str]:
    replies = [each["reply"] for each in action.get("buttons", ())]
    rows = [row for section in action.get("sections", ()) for row in section["rows"]]
    return {each["title"]: each["id"] for each in [*replies, *rows]}


class Mattermost(Group):
    channel_id = "community-chat"
    settings = ()
    users: ClassVar = {"ada": mattermost_calls.POST["user_id"], "bob": "b2r5xk8mz2d7f4qhw9tbnc3yja"}

    def configured(self) -> dict[str, Any]:
        own = {"SERVER_URL": self.platform.url, "channelId": mattermost.CHANNEL, "token": mattermost.TOKEN}
        return {**own, "webhookToken": mattermost_calls.POST["token"]}

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        post = {"post_id": f"p{next(self.numbers)}", "text": text, "file_ids": ""}
        return call(as_json={**mattermost_calls.POST, **self._who(who), **post})

    def press(self, who: str, number: int, value: str, at: datetime) -> RawCall:
        position, post = self._asked()[number]
        actions = mattermost.buttons_of(post)
        contexts = [each["integration"]["context"] for each in actions]
        context = next((each for each in contexts if each["choice"] == value), None)
        body = {"post_id": self.named or f"post{position + 1:022d}", "trigger_id": f"t{next(self.numbers)}"}
        body |= {"channel_id": mattermost.CHANNEL, "type": "button", **self._who(who)}
        return call(as_json={**body, "context": context or {**contexts[0], "choice": value}})

    def _who(self, who: str) -> dict[str, str]:
        name = f"{mattermost.BOT['id']}__{self.users[who]}" if self.direct else "town-square"
        return {"user_id": self.users[who], "user_name": self.names[who], "channel_name": name}

    def _asked(self) -> list[tuple[int, dict[str, Any]]]:
        return [each for each in enumerate(self.platform.posts) if mattermost.buttons_of(each[1])]

    def questions(self) -> list[dict[str, str]]:
        asked = [mattermost.buttons_of(post) for _, post in self._asked()]
        return [
            {each["name"]: each["integration"]["context"]["choice"] for each in actions} for actions in asked
        ]

    def shown(self, number: int) -> Shown:
        position, post = self._asked()[number]
        latest = self.platform.changed.get(position, post)
        return latest["message"], bool(mattermost.buttons_of(latest))

    def changed(self) -> set[str]:
        return {f"post{position + 1:022d}" for position in self.platform.changed}

    def told(self, who: str) -> list[str]:
        begins = f"@{self.names[who]}: "
        texts = [post["message"] for post in self.platform.posts]
        return [each.removeprefix(begins) for each in texts if each.startswith(begins)]

    def typing(self) -> int:
        return len(self.platform.typing)


class Sms(Group):
    """Conversations of people with a number: choices are typed."""

    channel_id = "sms-provider"
    config = sms_calls.CONFIG
    settings = (SMS_BASE.setting,)
    users: ClassVar = {"ada": "+4915112345678", "bob": "+4915112345679"}

    def write(self, who: str, text: str, at: datetime) -> RawCall:
        sid = f"SM{next(self.numbers):032d}"
        return call(form={**sms_calls.MESSAGE, "From": self.users[who], "Body": text, "MessageSid": sid})

    def told(self, who: str) -> list[str]:
        return [each["Body"] for each in self.platform.messages if each["To"] == self.users[who]]


GROUPS: Mapping[str, tuple[type[Group], type[Any]]] = {
    "Slack": (Slack, slack.Slack),
    "Teams": (Teams, teams.Teams),
    "Discord": (Discord, discord.Discord),
    "Telegram": (Telegram, telegram.Telegram),
    "WhatsApp": (WhatsApp, whatsapp.WhatsApp),
    "Mattermost": (Mattermost, mattermost.Mattermost),
    "SMS": (Sms, twilio.Twilio),
}
