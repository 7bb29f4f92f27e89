"""What gaming-chat (Discord) is: its fields, its set-up and its limits."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
    TextLimit,
)

TEXT_LIMIT = TextLimit(2000)

DEFINITION = ChannelDefinition(
    id="gaming-chat",
    name="Discord",
    description="Answers slash commands, buttons, mentions and direct messages on Discord.",
    fields=(
        ConfigField(
            "botToken",
            "string",
            "Bot token, from the 'Bot' page of the application in the Discord Developer Portal.",
            required=True,
            secret=True,
        ),
        ConfigField(
            "applicationId",
            "string",
            "Application ID, from the 'General Information' page of the application.",
            required=True,
            format=Format.ID,
        ),
        ConfigField(
            "publicKey",
            "string",
            "Ed25519 public key for signature verification (64 hexadecimal digits), from the "
            "'General Information' page. Discord keeps an Interactions Endpoint URL only when it is checked.",
            format=Format.ED25519_HEX,
        ),
        ConfigField(
            "defaultChannelId",
            "string",
            "Id of the Discord channel that gets messages which belong to no conversation.",
            format=Format.ID,
        ),
        *COMMON_FIELDS,
    ),
    setup=SetupInstructions(
        title="Set up a Discord application",
        steps=(
            "Go to https://discord.com/developers/applications and choose 'New Application'.",
            (
                "On 'General Information' copy the Application ID into applicationId and the Public Key "
                "into publicKey."
            ),
            "On 'Bot' choose 'Reset Token' and copy the token into botToken.",
            (
                "Create the channel instance, then enter "
                "{base_url}/api/agent/channels/gaming-chat/{instance_id}/webhook as 'Interactions "
                "Endpoint URL' on 'General Information' and save; Discord checks the signature at once."
            ),
            (
                "On 'OAuth2', under 'URL Generator', tick the scopes bot and applications.commands and "
                "the permissions View Channels, Send Messages, Send Messages in Threads, Attach Files and"
                " Read Message History."
            ),
            "Open the generated address and add the bot to your server.",
            (
                "Register a slash command with a string option, for example /ask with the option "
                "'question' (POST /applications/{applicationId}/commands); the documentation page shows "
                "the call."
            ),
            (
                "Mentions and direct messages need no further setting: they arrive over the gateway "
                "connection that the service keeps with botToken."
            ),
        ),
        docs_url="https://docs.discord.com/developers/interactions/overview",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=25,
)
