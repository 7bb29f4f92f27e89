"""What the Mattermost channel is: its fields, its set-up on the real platform, its limits."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
    TextLimit,
)

POST_LIMIT = TextLimit(16_383)
"""Characters of a post (`PostMessageMaxRunesV2` of the Mattermost server)."""

DEFINITION = ChannelDefinition(
    id="community-chat",
    name="Mattermost",
    description="A Mattermost channel: an outgoing webhook brings the posts in, a bot account answers them.",
    fields=(
        ConfigField(
            "SERVER_URL",
            "string",
            "Address of the Mattermost server, for example https://chat.example.com.",
            required=True,
            format=Format.BASE_URL,
        ),
        ConfigField(
            "channelId",
            "string",
            "ID of the channel to post in when a message names none (channel menu, View Info).",
            required=True,
            format=Format.ID,
        ),
        ConfigField(
            "token",
            "string",
            "Access token of the bot account for the API. Also checked on incoming webhooks, unless "
            "webhookToken is set.",
            required=True,
            secret=True,
        ),
        ConfigField(
            "webhookToken",
            "string",
            "Token that Mattermost shows for the outgoing webhook (it differs from the API token). When set, "
            "incoming calls may carry either of the two.",
            secret=True,
        ),
        *COMMON_FIELDS,
    ),
    setup=SetupInstructions(
        title="Set up Mattermost",
        steps=(
            (
                "In the System Console, Integration Management, enable bot accounts, personal access tokens "
                "and outgoing webhooks. On a server in a private network also add Switchboard's host to "
                "'Allow untrusted internal connections'."
            ),
            "In Integrations, Bot Accounts, add a bot and copy its access token.",
            "Invite the bot to the team and to the channel, so that it may read and post there.",
            "Create the instance here with SERVER_URL, channelId and the bot's token.",
            (
                "In Integrations, Outgoing Webhooks, add a webhook for the channel (content type "
                "application/json; a trigger word if only some posts are meant) with this instance's webhook "
                "URL as callback URL."
            ),
            "Copy the token that Mattermost shows for the outgoing webhook into webhookToken.",
        ),
        docs_url="https://developers.mattermost.com/integrate/webhooks/outgoing/",
        webhook_required=True,
    ),
    text_limit=POST_LIMIT,
)
