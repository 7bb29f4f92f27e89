"""What bot-messenger (Telegram) is: its configuration, its targets, its set-up and its limits."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import ack_reaction, credential, steps
from adapters.outbound.rendering import Markup
from domain.channels.model import ChannelDefinition, SetupInstructions, TextLimit, Unit
from domain.channels.typed import ChannelTarget, ConfigModel, GroupConfig, JsonModel, setting
from domain.values import value

WEBHOOK = "webhook"
POLLING = "polling"
GENERAL = 1
"""The topic General of a forum: it belongs to the conversation of the group, and Telegram takes its number for no
message."""
TEXT_LIMIT = TextLimit(4096, Unit.UTF16)
MARKUPS = {
    "HTML": Markup.TELEGRAM_HTML,
    "Markdown": Markup.TELEGRAM_MARKDOWN,
    "MarkdownV2": Markup.TELEGRAM_MARKDOWNV2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BotConfig(GroupConfig):
    bot_token: str = credential("Bot token from @BotFather, such as 123456789:AA...")
    parse_mode: str = setting(
        "Markup in which answers are sent: 'HTML' (default), 'Markdown' or 'MarkdownV2'.",
        choices=tuple(MARKUPS),
    )
    connection: str = setting(
        "How updates come in: 'webhook' (default), or 'polling', which needs no public address. Where "
        "Telegram refuses the webhook's address, updates are fetched as well.",
        choices=(WEBHOOK, POLLING),
    )
    disable_web_page_preview: bool = setting("Send answers without a preview of the first link in them.")
    ack_reaction: str = ack_reaction("\N{EYES}")

    @property
    def mode(self) -> str:
        return self.parse_mode if self.parse_mode in MARKUPS else "HTML"


@value
class BotTarget(ChannelTarget):
    """A chat and the forum topic in it; the message to reply to, or the pressed button and its prompt."""

    chat_id: int | str | None = None
    message_thread_id: int | None = None
    reply_to: int | None = None
    callback_query_id: str = ""
    prompt_id: int | None = None


CONFIG = ConfigModel(BotConfig)
TARGET = JsonModel(BotTarget)

DEFINITION = ChannelDefinition(
    id="bot-messenger",
    name="Telegram",
    description="Answers messages to a Telegram bot, in private chats, groups and topics.",
    fields=CONFIG.fields,
    without_public_address="Nothing to set: updates are fetched where Telegram cannot call the address.",
    setup=SetupInstructions(
        title="Set up a Telegram bot",
        steps=steps("""
            - Open a chat with @BotFather in Telegram, send /newbot and choose a name and a username.
            - Copy the token that BotFather gives into botToken.
            - Create the channel instance. Where AGENT_URL is a public https address on port 443, 80, 88 or
              8443, the webhook {base_url}/api/agent/channels/bot-messenger/{instance_id}/webhook is registered
              with Telegram automatically. Anywhere else, such as behind a router, updates are fetched from
              Telegram: nothing needs to be set up, and connection 'polling' asks for that in any case.
            - Optional, for groups: send /setprivacy to BotFather and choose 'Disable', so that the bot sees
              messages which do not mention it, and set requireMention to false, so that it answers them; then
              add the bot to the group.
        """),
        docs_url="https://core.telegram.org/bots/api",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=100,
)
