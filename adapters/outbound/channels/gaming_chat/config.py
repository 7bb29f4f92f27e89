"""What gaming-chat (Discord) is: its config, its targets, its set-up and its limits."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import ack_reaction, credential, reactions, required, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ConfigModel, JsonModel, ThreadConfig, setting
from domain.values import value

TEXT_LIMIT = TextLimit(2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordConfig(ThreadConfig):
    bot_token: str = credential(
        "Bot token, from the 'Bot' page of the application in the Discord Developer Portal."
    )
    application_id: str = required(
        "Application ID, from the 'General Information' page of the application.", format=Format.ID
    )
    public_key: str = setting(
        "Ed25519 public key for signature verification (64 hexadecimal digits), from the "
        "'General Information' page. Discord keeps an Interactions Endpoint URL only when it is checked.",
        format=Format.ED25519_HEX,
        basic=True,
    )
    default_channel_id: str = setting(
        "Id of the Discord channel that gets messages which belong to no conversation.", format=Format.ID
    )
    ack_reaction: str = ack_reaction("\N{EYES}")
    reactions: bool = reactions()


@value
class DiscordTarget(ChannelTarget):
    """`token` is that of an interaction at `since`, in seconds since 1970; `max_file` is in bytes.

    `deferred`: Discord shows 'is thinking' for a command until it is answered. `thread_of` is the message below which
    the answer begins a thread, which is called `thread_name`. `interaction` is the id of one without an answer yet:
    the press of a button that opens a form.
    """

    channel_id: str = ""
    application_id: str = ""
    token: str = ""
    since: float | None = None
    max_file: int | None = None
    deferred: bool = False
    reply_to: str = ""
    prompt_id: str = ""
    prompt_message: str = ""
    thread_of: str = ""
    thread_name: str = ""
    interaction: str = ""


CONFIG = ConfigModel(DiscordConfig)
TARGET = JsonModel(DiscordTarget)

DEFINITION = ChannelDefinition(
    id="gaming-chat",
    name="Discord",
    description="Answers slash commands, buttons, mentions and direct messages on Discord.",
    fields=CONFIG.fields,
    without_public_address=(
        "Leave the Interactions Endpoint URL empty: everything then comes over the gateway connection."
    ),
    setup=SetupInstructions(
        title="Set up a Discord application",
        steps=steps("""
            - Go to https://discord.com/developers/applications and choose 'New Application'.
            - On 'General Information' copy the Application ID into applicationId and the Public Key into
              publicKey.
            - On 'Bot' choose 'Reset Token' and copy the token into botToken.
            - Create the channel instance, then enter
              {base_url}/api/agent/channels/gaming-chat/{instance_id}/webhook as 'Interactions Endpoint URL' on
              'General Information' and save; Discord checks the signature at once.
            - On 'OAuth2', under 'URL Generator', tick the scopes bot and applications.commands and the
              permissions View Channels, Send Messages, Create Public Threads, Send Messages in Threads, Attach
              Files and Read Message History.
            - Open the generated address and add the bot to your server.
            - Register a slash command with a string option, for example /ask with the option 'question' (POST
              /applications/{applicationId}/commands); the documentation page shows the call.
            - Mentions and direct messages need no further setting: they arrive over the gateway connection that
              the service keeps with botToken. For threads that need no further mention also turn on 'Message
              Content Intent' on 'Bot'.
        """),
        docs_url="https://docs.discord.com/developers/interactions/overview",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=25,
)
