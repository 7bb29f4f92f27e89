"""What the Zulip channel is: its config, its targets, its set-up and its limit."""

from __future__ import annotations

from dataclasses import dataclass

from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, CommonConfig, ConfigModel, JsonModel, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ZulipConfig(CommonConfig):
    site: str = setting("Address of the Zulip server.", required=True, format=Format.BASE_URL)
    bot_email: str = setting("E-mail address of the bot, from its settings.", required=True)
    api_key: str = setting("API key of the bot, from its settings.", required=True, secret=True)
    token: str = setting("Token of the outgoing webhook; proves who calls.", required=True, secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZulipTarget(ChannelTarget):
    """`to` is the id of a channel, or of the person in a direct conversation, which has no topic."""

    to: int = 0
    topic: str = ""
    direct: bool = False


CONFIG = ConfigModel(ZulipConfig)
TARGET = JsonModel(ZulipTarget)

DEFINITION = ChannelDefinition(
    id="zulip",
    name="Zulip",
    description="Answers mentions of a bot and direct messages to it on a Zulip server.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up a Zulip bot",
        steps=(
            "Add a bot of the type 'Outgoing webhook' in the settings of the Zulip organization.",
            "Enter {base_url}/api/agent/channels/zulip/{instance_id}/webhook as its endpoint URL.",
            "Copy the bot's e-mail address, API key and token into the channel instance.",
        ),
        docs_url="https://zulip.com/api/outgoing-webhooks",
        webhook_required=True,
    ),
    text_limit=TextLimit(10_000),
)
