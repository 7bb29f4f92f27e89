"""The ways to a sender in Teams. Pure."""

from adapters.outbound.channels.enterprise_chat.config import TeamsConfig, TeamsTarget

BOT = "bot"
WEBHOOK = "webhook"
NOWHERE = "nowhere"


def way(config: TeamsConfig, target: TeamsTarget) -> str:
    """How an answer reaches the sender: as the bot where it can, else through the incoming webhook.

    A target of an emulator is answered as the bot although there is no app.
    """
    is_bot = config.has_app or target.emulator
    if is_bot and target.service_url and target.conversation:
        return BOT
    return WEBHOOK if config.webhook_url else NOWHERE
