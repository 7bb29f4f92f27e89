"""What workspace-chat (Slack) is: its config, its targets, its set-up and its limits."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import ack_reaction, credential, reactions, steps
from domain.channels.model import ChannelDefinition, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ConfigModel, JsonModel, ThreadConfig, setting
from domain.values import value

TEXT_LIMIT = TextLimit(4000)
"""What Slack advises for a message; one in blocks has 3000."""
ACTION = "choice_"
"""The ids of our buttons begin with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackConfig(ThreadConfig):
    bot_token: str = credential(
        "Bot User OAuth Token (xoxb-...), from 'OAuth & Permissions' of the Slack app."
    )
    signing_secret: str = credential(
        "Signing Secret, from 'Basic Information' of the Slack app; proves that a call comes from Slack."
    )
    default_channel: str = setting(
        "Id of the Slack channel (such as C0123456789) that gets messages of no conversation."
    )
    app_token: str = setting(
        "App-level token (xapp-...) with the scope connections:write, from 'Basic Information' of the Slack app. "
        "With it events come over Socket Mode, which needs no public address.",
        secret=True,
    )
    app_id: str = setting("App ID, from 'Basic Information' of the Slack app (such as A0123456789).")
    ack_reaction: str = ack_reaction("eyes")
    reactions: bool = reactions()


@value
class SlackTarget(ChannelTarget):
    """`since` is when a command was called or a button pressed, in seconds since 1970. `bot` is the bot's own user
    id, where the message was posted in a thread. By `trigger_id` a press opens a modal, for three seconds."""

    channel: str = ""
    thread_ts: str = ""
    user: str = ""
    response_url: str = ""
    since: float | None = None
    prompt_ts: str = ""
    prompt_url: str = ""
    bot: str = ""
    trigger_id: str = ""


CONFIG = ConfigModel(SlackConfig)
TARGET = JsonModel(SlackTarget)

DEFINITION = ChannelDefinition(
    id="workspace-chat",
    name="Slack",
    description="Answers mentions, direct messages and slash commands in a Slack workspace.",
    fields=CONFIG.fields,
    without_public_address="Fill in appToken: events then come over Socket Mode, and no address is called.",
    setup=SetupInstructions(
        title="Set up a Slack app",
        steps=steps("""
            - Go to https://api.slack.com/apps, choose 'Create New App', 'From scratch', and pick the workspace.
            - Under 'OAuth & Permissions' add the bot token scopes app_mentions:read, channels:history,
              chat:write, commands, files:read, files:write, groups:history, im:history, im:read and im:write.
            - Under 'App Home' turn on 'Messages Tab' and allow users to send messages from it.
            - Choose 'Install to Workspace' and copy the 'Bot User OAuth Token' into botToken.
            - Copy the 'Signing Secret' of 'Basic Information' into signingSecret and create the channel
              instance.
            - Without a public https address: under 'Basic Information', 'App-Level Tokens', make a token with
              the scope connections:write, copy it into appToken, and turn 'Socket Mode' on. The next steps then
              need no Request URL.
            - Under 'Event Subscriptions' turn events on, enter the webhook address
              {base_url}/api/agent/channels/workspace-chat/{instance_id}/webhook as Request URL, wait for
              'Verified', and subscribe to the bot events app_mention and message.im; for threads that need no
              further mention also to message.channels and message.groups.
            - Under 'Interactivity & Shortcuts' turn interactivity on with the same address, so that approval
              buttons work.
            - Optional: under 'Slash Commands' create a command with the same address as Request URL; under
              'Interactivity & Shortcuts' create shortcuts, global ones and on messages.
            - Reinstall the app when Slack asks for it, and invite the bot to a channel with /invite @your-bot.
        """),
        docs_url="https://docs.slack.dev/apis/events-api/",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=25,
)
