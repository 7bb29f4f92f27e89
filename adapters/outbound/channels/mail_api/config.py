"""Configuration, targets and set-up of mail-api (Gmail)."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import credential, required, steps
from adapters.outbound.mail.compose import MailTarget
from adapters.outbound.mail.events import MailConfig
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ConfigModel, JsonModel, setting, stored_as
from domain.values import value

THREAD_DOMAIN = "mail.gmail.com"
"""Of the ids of threads that we open, as of the mails that Gmail sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GmailConfig(MailConfig):
    client_id: str = required("OAuth 2.0 client id from the Google Cloud console.")
    client_secret: str = credential("OAuth 2.0 client secret that belongs to the client id.")
    refresh_token: str = credential(
        "OAuth 2.0 refresh token of the mailbox, granted for the scopes gmail.readonly and gmail.send."
    )
    redirect_uri: str = setting(
        "Redirect address that the refresh token was granted with; sent along when tokens are refreshed.",
        format=Format.URL,
    )
    check_interval: float | None = setting(
        "Minutes between two looks for new mail (default 5); fractions are allowed.",
        format=Format.INTERVAL_MINUTES,
    )


@value
class GmailTarget(MailTarget):
    """`own_address` is the address of the mailbox."""

    thread_id: str = stored_as("threadId")
    own_address: str = stored_as("from")


CONFIG = ConfigModel(GmailConfig)
TARGET = JsonModel(GmailTarget)

DEFINITION = ChannelDefinition(
    id="mail-api",
    name="Gmail",
    description="Answers new mail of a Gmail mailbox in its thread, through the Gmail API with OAuth 2.0.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Connect a Gmail mailbox",
        steps=steps("""
            - In the Google Cloud console (https://console.cloud.google.com) make or choose a project and enable
              the Gmail API under APIs & Services > Library.
            - Set up the OAuth consent screen. While its publishing status is Testing, Google lets refresh
              tokens expire after 7 days; publish it for lasting use.
            - Under APIs & Services > Credentials create an OAuth client ID of type Web application with the
              redirect URI https://developers.google.com/oauthplayground; copy client id and secret.
            - Open https://developers.google.com/oauthplayground, choose 'Use your own OAuth credentials' in its
              settings, enter both, and authorize https://www.googleapis.com/auth/gmail.readonly and
              https://www.googleapis.com/auth/gmail.send with the mailbox's account.
            - Exchange the authorization code for tokens and copy the refresh token.
            - Fill in clientId, clientSecret and refreshToken and save. Mail that arrives from then on is
              answered.
        """),
        docs_url="https://developers.google.com/workspace/gmail/api/guides",
        webhook_required=False,
    ),
)
