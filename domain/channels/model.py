"""Definitions of channels, and who proves the sender of an event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

FieldType = Literal["string", "number", "boolean"]


class Format(StrEnum):
    """Rules that a config value keeps besides its type; checked by `domain.instances.validation`."""

    TEXT = "text"
    LINES = "lines"
    ID = "id"
    URL = "url"
    BASE_URL = "base-url"
    HOST = "host"
    PORT = "port"
    EMAIL = "email"
    ED25519_HEX = "ed25519-hex"
    INTERVAL_MINUTES = "interval-minutes"
    CSV = "csv"
    EVENTS_CSV = "events-csv"


OF_SERVERS = (Format.URL, Format.BASE_URL, Format.HOST, Format.ED25519_HEX)
"""The formats of fields that name a server, or the key by which it is known."""


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of an instance's `config`."""

    name: str
    type: FieldType
    description: str
    required: bool = False
    format: Format = Format.TEXT
    choices: tuple[str, ...] = ()
    secret: bool = False
    basic: bool = False
    """Shown in a form without asking for more settings, as required fields and secrets are in any case."""
    suggested: str = ""
    """What a form for a new instance proposes."""
    accepts_number: bool = False
    """A string that may be given as a number too."""
    check: Callable[[Any], str | None] | None = None
    """A rule of this channel in place of `format`: what is wrong with a value, None if nothing."""


@dataclass(frozen=True, slots=True)
class SetupInstructions:
    """What a user does on the real platform before the channel works."""

    title: str
    steps: tuple[str, ...]
    docs_url: str
    webhook_required: bool
    webhook_path: str = "webhook"


@dataclass(frozen=True, slots=True)
class PlatformAddress:
    """A base address of a platform, or another text that its channel asks for. `setting` replaces the default."""

    setting: str
    default: str = ""


class Unit(StrEnum):
    """In what a platform counts the length of a message."""

    CHARACTERS = "characters"
    UTF16 = "utf16"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class TextLimit:
    """The longest text of one message, in the platform's own unit."""

    size: int
    unit: Unit = Unit.CHARACTERS


@dataclass(frozen=True, slots=True)
class ChannelDefinition:
    """A channel type as the catalogue shows it, and what the engine must know of it.

    `text_limit` None means that a message has no limit. `buttons` is how many choices one message can
    offer natively; 0 means that choices are typed.
    """

    id: str
    name: str
    description: str
    fields: tuple[ConfigField, ...]
    setup: SetupInstructions
    text_limit: TextLimit | None = None
    buttons: int = 0
    advice: tuple[tuple[tuple[str, ...], ...], ...] = field(default=())
    """Each entry: alternatives of fields of which at least one should be given in full."""
    checks_credentials: bool = False
    """Whether the platform can be asked whether it takes the credentials; the catalogue fills it in."""
    without_public_address: str = ""
    """How it works where the platform cannot call this server, in a sentence; empty where it does not."""

    @property
    def type(self) -> str:
        """The channel type identifier; the same as the id."""
        return self.id

    def is_basic(self, field: ConfigField) -> bool:
        """Return True if a form shows the field without a click on more settings."""
        advised = any(field.name in names for alternatives in self.advice for names in alternatives)
        return field.basic or field.required or field.secret or advised

    def identifies(self, config: Mapping[str, object]) -> bool:
        """Return True if senders of an instance are resolved to platform users."""
        asked = config.get(IDENTIFY_USERS.name) is True and self.field_named(IDENTIFY_USERS.name) is not None
        return asked or self.allows_only_known(config)

    def allows_only_known(self, config: Mapping[str, object]) -> bool:
        """Return True if an instance serves only verified users. A value is ignored if the channel has no such
        field."""
        return config.get(ACCESS_MODE.name) == ALLOWLIST and self.field_named(ACCESS_MODE.name) is not None

    def merge_seconds(self, config: Mapping[str, object]) -> float:
        """How long an instance waits for more messages of a sender before it hands them on as one; 0 for not."""
        seconds = config.get(MERGE_SECONDS.name, 0)
        has_field = self.field_named(MERGE_SECONDS.name) is not None
        return float(seconds) if has_field and isinstance(seconds, (int, float)) else 0.0

    def ack_reaction(self, config: Mapping[str, object]) -> str:
        """The emoji that an instance shows at a message that is being worked on, empty for none."""
        emoji = config.get(ACK_REACTION)
        return emoji if isinstance(emoji, str) and self.field_named(ACK_REACTION) is not None else ""

    def hands_on_reactions(self, config: Mapping[str, object]) -> bool:
        """Return True if reactions of people are messages for the resource."""
        return config.get(REACTIONS) is True and self.field_named(REACTIONS) is not None

    def transcribes(self, config: Mapping[str, object]) -> bool:
        """Return True if voice messages are also handed on as text."""
        return config.get(TRANSCRIBE.name) is not False and self.field_named(TRANSCRIBE.name) is not None

    def origin(self, config: Mapping[str, object]) -> Mapping[str, object]:
        """The fields of an instance that decide where its messages come from: secrets, servers, and what it cannot
        work without, such as its account."""
        deciding = (
            field for field in self.fields if field.secret or field.required or field.format in OF_SERVERS
        )
        return {field.name: config.get(field.name, "") for field in deciding}

    def field_named(self, name: str) -> ConfigField | None:
        """The field of that name, or None."""
        return next((field for field in self.fields if field.name == name), None)


ALLOWLIST = "allowlist"
IDENTIFY_USERS = ConfigField(
    "identifyUsers",
    "boolean",
    "Resolve the external sender to a platform user, for access control and billing.",
)
ACCESS_MODE = ConfigField(
    "accessMode",
    "string",
    "Who is served: 'open' (default) serves anyone, 'allowlist' only verified platform users.",
    choices=("open", ALLOWLIST),
)

ACK_REACTION = "ackReaction"
REACTIONS = "reactions"
MOST_MERGE_SECONDS = 60


def _merge_seconds_fault(value: float) -> str | None:
    return None if 0 <= value <= MOST_MERGE_SECONDS else f"must be seconds from 0 to {MOST_MERGE_SECONDS}"


MERGE_SECONDS = ConfigField(
    "mergeSeconds",
    "number",
    "Messages that a sender writes within so many seconds of each other are answered as one (default 0: each alone).",
    check=_merge_seconds_fault,
)
REQUIRE_MENTION = ConfigField(
    "requireMention",
    "boolean",
    "Whether messages of groups and channels are answered only where they address the bot. The channel's page tells"
    " the default, and what addresses the bot.",
)
ALLOWED_CHANNELS = ConfigField(
    "allowedChannels",
    "string",
    "Comma-separated ids of the groups and channels in which the bot answers; empty allows all. Direct messages are"
    " answered in any case.",
)
FOLLOW_THREADS = ConfigField(
    "followThreads",
    "boolean",
    "Where the bot has answered in a thread, further messages of it need no mention (default true).",
)
REPLY_IN_THREAD = ConfigField(
    "replyInThread",
    "boolean",
    "Answer a mention in a channel in a thread below it (default false: in the channel).",
)
TRANSCRIBE = ConfigField(
    "transcribe",
    "boolean",
    "Hand voice messages on as text, beside the recording, where a speech model is set up (default true).",
)


class Proof(StrEnum):
    """Who proves the identities of a sender.

    Whoever knows a secret of the instance, or runs the server behind it, can name any sender: what such a secret or
    server proves is the word of the instance's owner.
    """

    PLATFORM = "platform"
    """The platform: this service connects to it, or verifies a signature that the owner cannot make."""
    OWNER = "owner"
    """A secret or server of the instance's owner."""
    SERVICE = "service"
    """This service: the user called it with a key or session."""


def missing_proof(missing_proof_field: str) -> str:
    """The text for a `Received.missing_proof_field`: a missing header, or a config field that is not set."""
    if missing_proof_field.lower().startswith("x-"):
        return f"the header {missing_proof_field} did not come"
    return f"config.{missing_proof_field} is not set"
