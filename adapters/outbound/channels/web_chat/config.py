"""Configuration, targets and set-up of the web chat."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from adapters.outbound.channels.common.config import steps
from domain.channels.model import ChannelDefinition, SetupInstructions
from domain.channels.typed import ChannelTarget, ChatConfig, ConfigModel, JsonModel, setting
from domain.limits import CHOICES
from domain.values import value

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_LEAST_SECRET = 32


def origins_of(text: str) -> frozenset[str]:
    """The origins as browsers name them: in small letters, without a path or the usual port."""
    return frozenset(_origin(entry) for entry in (entry.strip() for entry in text.split(",")) if entry)


def _origin(entry: str) -> str:
    """Raises `ValueError` for anything but an origin."""
    parts = urlsplit(entry.rstrip("/"))
    port, usual = parts.port, {"http": 80, "https": 443}.get(parts.scheme)
    bare = not (parts.path or parts.query or parts.fragment or parts.username)
    if usual is None or not bare or not parts.hostname or not entry.isascii() or not entry.isprintable():
        raise ValueError(entry)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


def origins_fault(text: str) -> str | None:
    for entry in filter(None, map(str.strip, text.split(","))):
        try:
            _origin(entry)
        except ValueError:
            return f"'{entry[:100]}' is not an origin such as https://www.example.com"
    return None


def colour_fault(text: str) -> str | None:
    return None if _COLOUR.fullmatch(text) else "must be a colour such as #0b5fff"


def secret_fault(text: str) -> str | None:
    return None if len(text.encode()) >= _LEAST_SECRET else f"must have at least {_LEAST_SECRET} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebChatConfig(ChatConfig):
    allowed_origins: str = setting(
        "Comma-separated origins of the web pages that show the chat, for example https://www.example.com. Empty: "
        "none but the console.",
        check=origins_fault,
        basic=True,
    )
    title: str = setting("What stands at the top of the panel.", basic=True)
    greeting: str = setting("What a visitor reads before the first message.", basic=True)
    colour: str = setting("Colour of the panel, for example #0b5fff.", check=colour_fault)
    identity_secret: str = setting(
        "Secret with which your site signs who its visitors are, at least 32 characters. Without it all visitors are "
        "anonymous.",
        secret=True,
        check=secret_fault,
    )


@value
class WebChatTarget(ChannelTarget):
    """A visitor's conversation; `prompt` is the message whose buttons were pressed, by `author`."""

    instance: int = 0
    session: str = ""
    prompt: str = ""
    author: str = ""


CONFIG = ConfigModel(WebChatConfig)
TARGET = JsonModel(WebChatTarget)

DEFINITION = ChannelDefinition(
    id="web-chat",
    name="Web chat",
    description="A chat panel on your own website, by one tag in its pages; it needs no account anywhere.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up the web chat",
        steps=steps("""
            - Enter the origins of the pages that show the chat as allowedOrigins, for example
              https://www.example.com.
            - Create the instance, and copy its tag (embedTag) into these pages, before the end of the body.
            - Open one of the pages and write a message.
            - To know who writes, choose an identitySecret and have your site sign its visitors as the docs of
              the channel describe.
        """),
        docs_url="https://datatracker.ietf.org/doc/html/rfc7519",
        webhook_required=False,
    ),
    buttons=CHOICES,
)
