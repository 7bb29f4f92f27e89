"""What business-messaging (WhatsApp Business, Cloud API) is: its configuration, targets, set-up and limits."""

from dataclasses import dataclass
from datetime import timedelta

from adapters.outbound.channels.common import config
from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ChatConfig, ConfigModel, JsonModel, setting
from domain.values import value

DEFAULT_API_VERSION = "v21.0"
TEXT_LIMIT = TextLimit(4096)
BUTTONS = 10
"""Rows of a list; up to three choices are buttons."""
WINDOW = timedelta(hours=24)
"""How long after a person's last message anything but a template is taken
(https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-messages#customer-service-windows)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppConfig(ChatConfig):
    phone_number_id: str = config.required(
        "Phone number ID (not the number itself), from 'WhatsApp' > 'API Setup' of the Meta app.",
        format=Format.ID,
    )
    access_token: str = config.credential(
        "Access token of a system user with the permission whatsapp_business_messaging."
    )
    webhook_verify_token: str = config.credential(
        "A word of your own choice; enter the same one as 'Verify token' in the Meta app."
    )
    app_secret: str = setting(
        "App secret for signature verification, from 'App settings' > 'Basic' of the Meta app.", secret=True
    )
    api_version: str = setting(
        f"Version of the Graph API (default '{DEFAULT_API_VERSION}').", format=Format.ID
    )
    ack_reaction: str = config.ack_reaction("\N{EYES}")
    reactions: bool = config.reactions()


@value
class WhatsAppTarget(ChannelTarget):
    """A group, or a person by phone number (`to`) or business-scoped id (`recipient`), and the message to answer."""

    to: str = ""
    recipient: str = ""
    message_id: str = ""
    group: str = ""


CONFIG = ConfigModel(WhatsAppConfig)
TARGET = JsonModel(WhatsAppTarget)

DEFINITION = ChannelDefinition(
    id="business-messaging",
    name="WhatsApp Business (Cloud API)",
    description="Answers messages to a WhatsApp business number over Meta's Cloud API.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up WhatsApp Business (Cloud API)",
        steps=(
            config.https_step("WhatsApp"),
            *config.steps("""
            - Go to https://developers.facebook.com/apps, create an app of type 'Business' and add the product
              'WhatsApp'.
            - Under 'WhatsApp' > 'API Setup' add your phone number and copy the 'Phone number ID' into
              phoneNumberId.
            - In the Meta Business settings create a system user, give it the app and the WhatsApp account, and
              generate a token with whatsapp_business_messaging and whatsapp_business_management; copy it into
              accessToken.
            - Under 'App settings' > 'Basic' copy the 'App secret' into appSecret.
            - Choose any word as webhookVerifyToken and create the channel instance.
            - Under 'WhatsApp' > 'Configuration' enter
              {base_url}/api/agent/channels/business-messaging/{instance_id}/webhook as 'Callback URL' and the
              same word as 'Verify token', then choose 'Verify and save'.
            - Subscribe to the webhook field 'messages'.
        """),
        ),
        docs_url="https://developers.facebook.com/docs/whatsapp/cloud-api/get-started",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
    buttons=BUTTONS,
)
