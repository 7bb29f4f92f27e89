"""The platforms of the features on context: what each posts when people reply to each other."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp
from adapters.outbound.channels.enterprise_chat.tests import samples as teams
from adapters.outbound.channels.gaming_chat.tests import samples as discord
from adapters.outbound.channels.gaming_chat.webhook import FORWARDER_HEADER
from adapters.outbound.channels.tests.support import call
from adapters.outbound.channels.workspace_chat.tests import samples as slack
from domain.channels.messages import RawCall
from tests.support.platforms.discord import APPLICATION, Discord
from tests.support.platforms.slack import BOT, Slack
from tests.support.platforms.standin import StandIn
from tests.support.platforms.telegram import USERNAME, Telegram
from tests.support.platforms.whatsapp import WhatsApp

PEOPLE = {"Ada": 5550001, "Bob": 5550002, "the bot": 987654321}
PICTURE = b"\x89PNG engine"


@dataclass(frozen=True)
class Original:
    """A message that is replied to. `marked`: the words of it that the person marked."""

    author: str
    text: str = ""
    marked: str = ""
    picture: bool = False


class ChatPlatform(ABC):
    """What a platform posts; `setting` is that of its address."""

    channel_id: str
    setting: str
    config: Mapping[str, Any]
    api = ""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.platform = self.standin()

    @abstractmethod
    def standin(self) -> StandIn: ...

    @abstractmethod
    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        """A message of a person, which may reply to another."""

    def in_group(self, who: str, text: str, *, mention: bool, at: datetime) -> RawCall:
        """A message of a group, which may mention the bot."""
        raise NotImplementedError

    def special(self, message: str, at: datetime) -> RawCall:
        """A message of Ada of a kind that the platform has."""
        raise NotImplementedError

    def press(self, label: str) -> RawCall:
        """A press of a button that the bot sent."""
        raise NotImplementedError

    def lose_files(self) -> None:
        raise NotImplementedError


class TelegramChat(ChatPlatform):
    specials: Mapping[str, str] = {
        "a command": "message_command",
        "a start by a link": "message_start_link",
        "a choice in a web app": "message_web_app",
    }
    channel_id = "bot-messenger"
    setting = telegram.SETTING
    config = telegram.CONFIG

    def standin(self) -> StandIn:
        self.telegram = Telegram()
        self.telegram.files = {"engine": PICTURE}
        return self.telegram

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        message = self._message(who) | {"text": text}
        if original:
            message["reply_to_message"] = self._original(original)
            if original.marked:
                message["quote"] = {"text": original.marked, "position": 0, "is_manual": True}
        return telegram.posted({"update_id": next(self.numbers), "message": message})

    def in_group(self, who: str, text: str, *, mention: bool, at: datetime) -> RawCall:
        chat = {"id": -100777, "type": "supergroup", "title": "Engine room"}
        written = f"@{USERNAME} {text}" if mention else text
        message = self._message(who) | {"chat": chat, "text": written}
        return telegram.posted({"update_id": next(self.numbers), "message": message})

    def _original(self, original: Original) -> dict[str, Any]:
        content: dict[str, Any] = {"text": original.text}
        if original.picture:
            content = {"photo": [{"file_id": "engine", "file_unique_id": "u", "width": 9, "height": 9}]}
        return self._message(original.author) | content

    def _message(self, who: str) -> dict[str, Any]:
        return {
            "message_id": 1000 + next(self.numbers),
            "from": {"id": PEOPLE[who], "is_bot": who == "the bot", "first_name": who},
            "chat": {"id": PEOPLE["Ada"], "type": "private"},
            "date": 1780000015,
        }

    def lose_files(self) -> None:
        self.telegram.files = {}

    def special(self, message: str, at: datetime) -> RawCall:
        return telegram.update(self.specials[message])


class SlackChat(ChatPlatform):
    """Slack knows replies in threads alone; `original` is the first message of one."""

    channel_id = "workspace-chat"
    setting = slack.SETTING
    config = slack.CONFIG
    api = "/api"

    def standin(self) -> StandIn:
        self.slack = Slack()
        return self.slack

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        body = slack.fixture("app_mention_in_thread")
        body["event"] |= {"text": f"<@{BOT}> {text}", "user": who}
        root = body["event"]["thread_ts"]
        if original:
            self.slack.threads[root] = [{"user": original.author, "text": original.text, "ts": root}]
        return slack.as_posted("app_mention_in_thread", body, at)

    def in_group(self, who: str, text: str, *, mention: bool, at: datetime) -> RawCall:
        body = slack.fixture("message_channel")
        body["event"] |= {"text": f"<@{BOT}> {text}" if mention else text, "user": who}
        return slack.as_posted("message_channel", body, at)

    def special(self, message: str, at: datetime) -> RawCall:
        names = {"a global shortcut": "shortcut", "a shortcut of a message": "message_action"}
        return slack.recorded(names[message], at)


class DiscordChat(ChatPlatform):
    channel_id = "gaming-chat"
    setting = discord.SETTING
    config = discord.CONFIG

    def standin(self) -> StandIn:
        return Discord()

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        message = discord.fixture("message_dm") | {"content": text}
        if original:
            author = {"id": str(PEOPLE[original.author]), "username": original.author}
            message["referenced_message"] = {"id": "1", "content": original.text, "author": author}
        return self._forwarded(message)

    def in_group(self, who: str, text: str, *, mention: bool, at: datetime) -> RawCall:
        written = f"<@{APPLICATION}> {text}" if mention else text
        return self._forwarded(discord.fixture("message_other") | {"content": written})

    def special(self, message: str, at: datetime) -> RawCall:
        name = {"a command on a message": "command_on_message", "a form": "modal_submit"}[message]
        return discord.posted(discord.fixture(name), at)

    def _forwarded(self, message: dict[str, Any]) -> RawCall:
        return call(as_json=message, headers={FORWARDER_HEADER: str(self.config["botToken"])})


class TeamsChat(ChatPlatform):
    channel_id = "enterprise-chat"
    setting = "ENTERPRISE_CHAT_LOGIN_URL"
    config: Mapping[str, Any] = {}

    def standin(self) -> StandIn:
        return StandIn()

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        activity = teams.fixture("message_personal") | {"text": text}
        if original:
            content = teams.REPLY.replace("It is hot.", original.text)
            activity["attachments"] = [{"contentType": "text/html", "content": content}]
        return call(as_json=activity)

    def in_group(self, who: str, text: str, *, mention: bool, at: datetime) -> RawCall:
        activity = teams.fixture("message_channel_mention")
        if mention:
            tag = f"<at>{activity['recipient']['name']}</at>"
            return call(as_json={**activity, "text": f"{tag} {text}"})
        return call(as_json={**activity, "text": text, "entities": []})


class WhatsAppChat(ChatPlatform):
    """WhatsApp tells the id of the message that was replied to."""

    channel_id = "business-messaging"
    setting = whatsapp.SETTING
    config = whatsapp.CONFIG
    ids: Mapping[str, str] = {"Ada": "wamid.of-ada-1", "the bot": "wamid.1"}

    specials: Mapping[str, str] = {
        "a press of a template's button": "template_button",
        'a message from an ad with the headline "Summer sale"': "text_from_ad",
        "a row of a list of another make": "list_reply",
    }

    def standin(self) -> StandIn:
        self.whatsapp = WhatsApp()
        return self.whatsapp

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        body = whatsapp.fixture("text")
        value = body["entry"][0]["changes"][0]["value"]
        value["contacts"][0]["profile"]["name"] = who
        message = value["messages"][0]
        message |= {"id": f"wamid.of-ada-{next(self.numbers)}", "text": {"body": text}}
        if original:
            message["context"] = {"from": message["from"], "id": self.ids.get(original.author, "wamid.0")}
        return whatsapp.posted(body)

    def special(self, message: str, at: datetime) -> RawCall:
        return whatsapp.notification(self.specials[message])

    def press(self, label: str) -> RawCall:
        body = whatsapp.fixture("button_reply")
        buttons = self.whatsapp.messages[-1]["interactive"]["action"]["buttons"]
        reply = next(button["reply"] for button in buttons if button["reply"]["title"] == label)
        body["entry"][0]["changes"][0]["value"]["messages"][0]["interactive"]["button_reply"] = reply
        return whatsapp.posted(body)


PLATFORMS: Mapping[str, type[ChatPlatform]] = {
    "Telegram": TelegramChat,
    "Slack": SlackChat,
    "Discord": DiscordChat,
    "Teams": TeamsChat,
    "WhatsApp": WhatsAppChat,
}
