"""Servers for mail, sign-in and the bot, with which a service under test verifies identities."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.drivers.platform import PlatformDriver
from tests.support.mail import Postbox, smtp_server
from tests.support.platforms.bot_api import BOT_TOKEN
from tests.support.platforms.sign_in import CLIENT_ID, CLIENT_SECRET


@dataclass
class Outside:
    """`settings` are those of a service that works with these servers."""

    postbox: Postbox
    sign_in: PlatformDriver
    bot_api: PlatformDriver

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(self.postbox.port),
            "SMTP_FROM": "verify@switchboard.example",
            **_sign_in("GAMING_CHAT", self.sign_in.url),
            **_sign_in("COMMUNITY_CHAT", self.sign_in.url),
            "COMMUNITY_CHAT_SERVER_URL": self.sign_in.url,
            "VERIFICATION_BOT_TOKEN": BOT_TOKEN,
            "VERIFICATION_BOT_USERNAME": "verify_bot",
            "BOT_MESSENGER_API_URL": self.bot_api.url,
        }


@contextmanager
def outside_servers() -> Iterator[Outside]:
    with smtp_server(auth=False) as postbox:
        outside = Outside(postbox, PlatformDriver(), PlatformDriver())
        yield outside
        outside.sign_in.close()
        outside.bot_api.close()


def _sign_in(provider: str, url: str) -> dict[str, str]:
    return {
        f"{provider}_CLIENT_ID": CLIENT_ID,
        f"{provider}_CLIENT_SECRET": CLIENT_SECRET,
        f"{provider}_AUTHORIZE_URL": f"{url}/authorize",
        f"{provider}_TOKEN_URL": f"{url}/token",
        f"{provider}_USERINFO_URL": f"{url}/me",
    }
