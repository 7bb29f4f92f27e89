"""What bot-messenger (Telegram) is: its fields, its set-up and its limits."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    SetupInstructions,
    TextLimit,
    Unit,
)

TEXT_LIMIT = TextLimit(4096, Unit.UTF16)

DEFINITION = ChannelDefinition(
    id="bot-messenger",
    name="Telegram",
    description="Answers messages to a Telegram bot, in private chats, groups and topics.",
    fields=(
        ConfigField(
            "botToken",
            "string",
            "Bot token from @BotFather, such as 123456789:AA...",
            required=True,
            secret=True,
        ),
        ConfigField(
            "parseMode",
            "string",
            "Markup in which answers are sent: 'HTML' (default), 'Markdown' or 'MarkdownV2'.",
            choices=("HTML", "Markdown", "MarkdownV2"),
        ),
        ConfigField(
            "disableWebPagePreview",
            "boolean",
            "Send answers without a preview of the first link in them.",
        ),
        *COMMON_FIELDS,
    ),
    setup=SetupInstructions(
        title="Set up a Telegram bot",
        steps=(
            "Open a chat with @BotFather in Telegram, send /newbot and choose a name and a username.",
            "Copy the token that BotFather gives into botToken.",
            (
                "Make sure that the service's public address (AGENT_URL) is reachable over https on port "
                "443, 80, 88 or 8443."
            ),
            (
                "Create the channel instance: the webhook "
                "{base_url}/api/agent/channels/bot-messenger/{instance_id}/webhook is registered with "
                "Telegram automatically."
            ),
            (
                "Optional, for groups: send /setprivacy to BotFather and choose 'Disable', so that the "
                "bot sees messages which do not mention it; then add the bot to the group."
            ),
        ),
        docs_url="https://core.telegram.org/bots/api",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=100,
)
