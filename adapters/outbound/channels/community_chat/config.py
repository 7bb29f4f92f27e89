"""What community-chat (Mattermost) is: its config, its targets, its set-up and its limits."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import ack_reaction, credential, required, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ConfigModel, JsonModel, ThreadConfig, setting, stored_as
from domain.values import value

WEBHOOK = "webhook"
SOCKET = "socket"
BUTTONS = 20
"""Of a post; our choice."""
POST_LIMIT = TextLimit(16_383)
"""Characters of a post (`PostMessageMaxRunesV2` of the Mattermost server)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MattermostConfig(ThreadConfig):
    server_url: str = required(
        "Address of the Mattermost server, for example https://chat.example.com.",
        format=Format.BASE_URL,
        name="SERVER_URL",
    )
    channel_id: str = required(
        "ID of the channel to post in when a message names none (channel menu, View Info).", format=Format.ID
    )
    token: str = credential(
        "Access token of the bot account for the API. Also checked on incoming webhooks, unless "
        "webhookToken is set."
    )
    webhook_token: str = setting(
        "Token that Mattermost shows for the outgoing webhook (it differs from the API token). When set, "
        "incoming calls may carry either of the two.",
        secret=True,
    )

    connection: str = setting(
        "How posts come in: 'webhook' (default), an outgoing webhook of the server, or 'socket', a WebSocket that "
        "the service keeps with token: it needs no public address, and brings direct messages and private channels "
        "as well.",
        choices=(WEBHOOK, SOCKET),
        basic=True,
    )
    ack_reaction: str = ack_reaction("eyes")


@value
class MattermostTarget(ChannelTarget):
    """`root` is the first post of a thread; `prompt` the post whose button `user_name` pressed."""

    channel: str = ""
    root: str = ""
    prompt: str = ""
    user_name: str = stored_as("userName")
    response_url: str = stored_as("responseUrl")


def session_of(channel: str, person: str, root: str = "") -> str:
    """What a person says to the bot in a channel, or all say in the thread of the post `root`; without both, what the
    bot says there first."""
    return f"{channel}:{root or person}" if root or person else channel


CONFIG = ConfigModel(MattermostConfig)
TARGET = JsonModel(MattermostTarget)

DEFINITION = ChannelDefinition(
    id="community-chat",
    name="Mattermost",
    description="A Mattermost channel: an outgoing webhook brings the posts in, a bot account answers them.",
    fields=CONFIG.fields,
    without_public_address="Set connection to 'socket': posts then come over a WebSocket.",
    setup=SetupInstructions(
        title="Set up Mattermost",
        steps=steps("""
            - In the System Console, Integration Management, enable bot accounts, personal access tokens and
              outgoing webhooks. Where Switchboard has an address of a private network also add its host to
              'Allow untrusted internal connections' (ServiceSettings.AllowedUntrustedInternalConnections): the
              server calls it for posts and for pressed buttons.
            - In Integrations, Bot Accounts, add a bot and copy its access token.
            - Invite the bot to the team and to the channel, so that it may read and post there.
            - Create the instance here with SERVER_URL, channelId and the bot's token. With connection 'socket'
              that is all: direct messages, and mentions in the bot's channels, arrive over a WebSocket.
            - In Integrations, Outgoing Webhooks, add a webhook for the channel (content type application/json;
              a trigger word if only some posts are meant) with this instance's webhook URL as callback URL.
            - Copy the token that Mattermost shows for the outgoing webhook into webhookToken.
        """),
        docs_url="https://developers.mattermost.com/integrate/webhooks/outgoing/",
        webhook_required=True,
    ),
    text_limit=POST_LIMIT,
    buttons=BUTTONS,
)
