"""What enterprise-chat (Microsoft Teams) is: its config, its targets, its set-up and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.config import https_step, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit, Unit
from domain.channels.typed import ChannelTarget, ConfigModel, GroupConfig, JsonModel, setting, stored_as
from domain.values import value

WEBHOOK_LIMIT = TextLimit(21 * 1024, Unit.BYTES)
"""A message to an incoming webhook, whole. Microsoft's page says 28 KB ("Limits and specifications for Microsoft
Teams"), but messages over 21 KB have been refused."""

BOT_LIMIT = TextLimit(40 * 1024, Unit.BYTES)
"""A message of a bot, whole ("Format your bot messages", Microsoft Teams)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsConfig(GroupConfig):
    webhook_url: str = setting(
        "Incoming webhook URL of a Teams channel (a Workflows URL or a legacy connector URL). Answers "
        "are posted there when no appId and appPassword are given.",
        format=Format.URL,
        secret=True,
    )
    app_id: str = setting(
        "Application (client) ID of the bot's Microsoft Entra app. Also proves the origin of incoming calls.",
        format=Format.ID,
    )
    app_password: str = setting(
        "Client secret of the bot's Microsoft Entra app; needed to answer as the bot.", secret=True
    )
    tenant_id: str = setting(
        "Directory (tenant) ID of a single-tenant bot. Leave it out for a multi-tenant bot.", format=Format.ID
    )

    @property
    def has_app(self) -> bool:
        return bool(self.app_id and self.app_password)


@value
class TeamsTarget(ChannelTarget):
    """`bot` and `user` are the accounts, with id and name; `prompt` is the message whose button was pressed.

    `emulator`: answered as the bot although there is no app.
    """

    service_url: str = stored_as("serviceUrl")
    conversation: str = ""
    bot: Mapping[str, Any] | None = None
    user: Mapping[str, Any] | None = None
    prompt: str = ""
    reply_to: str = stored_as("replyTo")
    emulator: bool = False


CONFIG = ConfigModel(TeamsConfig)
TARGET = JsonModel(TeamsTarget)

DEFINITION = ChannelDefinition(
    id="enterprise-chat",
    name="Microsoft Teams",
    description="A bot in Microsoft Teams: personal chats, group chats and channels. Answers through the bot "
    "service, or one way into a channel through an incoming webhook.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up Microsoft Teams",
        steps=(
            https_step("Microsoft Teams"),
            *steps("""
            - In the Azure portal, create an Azure Bot resource (Single Tenant). Note its Microsoft App ID and
              its App Tenant ID.
            - Open the bot's app registration, Certificates & secrets, and create a client secret. Its value is
              the app password.
            - Create the instance here with appId, appPassword and tenantId.
            - In the Azure Bot resource, Configuration, set the messaging endpoint to this instance's webhook
              URL and apply.
            - In the Azure Bot resource, Channels, add Microsoft Teams.
            - In the Teams Developer Portal, create an app whose bot is this app ID, choose the scopes personal,
              team and group chat, and publish or upload it to your organisation.
            - Only to post into one channel: in Teams, open the channel's Workflows, add 'Post to a channel when
              a webhook request is received', and give the URL it shows as webhookUrl.
        """),
        ),
        docs_url="https://learn.microsoft.com/en-us/azure/bot-service/channel-connect-teams",
        webhook_required=True,
    ),
    text_limit=BOT_LIMIT,
    buttons=6,
    advice=((("webhookUrl",), ("appId", "appPassword")),),
)
