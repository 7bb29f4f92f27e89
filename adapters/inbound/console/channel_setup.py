"""A channel in words and forms: the form of its configuration, its set-up steps with this server's addresses,
and what to do about its health. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from adapters.inbound.console.filters import duration
from domain.addresses import is_private
from domain.channels.model import ChannelDefinition, ConfigField, Format
from domain.events import EventKind
from domain.instances.model import Activity, Health, Instance
from domain.instances.validation import with_stored_secrets
from domain.monitoring.model import InstanceState

NAME, RESOURCE = "channelName", "downStreamResourceId"
LABELS = {NAME: "Name", RESOURCE: "Answered by"}
PREFIX = "config-"
REMOVE = "remove-"
"""Begins the name of the box that takes a stored secret away."""
_NUMBER = re.compile(r"-?[0-9]{1,15}")
_FRACTION = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_ACRONYMS = {"id", "url", "smtp", "imap", "api", "sid", "erp", "http", "https", "ip"}
YES_OR_NO = (("true", "Yes"), ("false", "No"))


@dataclass(frozen=True, slots=True)
class FormField:
    """A field as the page shows it. `value` is never that of a secret; `stored`: there is a secret to keep,
    `removable`: which may be taken away."""

    name: str
    key: str
    label: str
    kind: str
    help: str
    value: str
    required: bool
    basic: bool
    stored: bool
    removable: bool
    options: tuple[tuple[str, str], ...]


def label_of(key: str) -> str:
    """The name of a field in words: `botToken` is Bot token, `SERVER_URL` is Server URL."""
    words = [word.lower() for word in _WORD.findall(key) or [key]]
    label = " ".join(word.upper() if word in _ACRONYMS else word for word in words)
    return label[:1].upper() + label[1:]


def in_words(definition: ChannelDefinition | None, text: str) -> str:
    """A text that names fields as the API does, with the labels of the form instead. Names that are ordinary words
    stay."""
    fields = definition.fields if definition else ()
    labels = {field.name: label_of(field.name) for field in fields if not field.name.islower()}
    labels.update(LABELS)
    names = "|".join(re.escape(name) for name in labels)
    return re.sub(
        rf"\b(?:config\.)?({names})\b(?!=)", lambda match: f"“{labels[match[1]]}”", text
    ).removeprefix("config: ")


def input_name(fault_field: str) -> str:
    """The name of an input for the field that a fault names: no dots, so that it can stand in selectors."""
    return fault_field.replace("config.", PREFIX, 1)


def fields_of(
    definition: ChannelDefinition, values: Mapping[str, object], stored: Mapping[str, object]
) -> list[FormField]:
    """`values` are to be shown; `stored` is the configuration that is changed, empty for a new one."""
    shown = []
    for field in definition.fields:
        has_stored = field.secret and stored.get(field.name, "") != ""
        value = values.get(field.name)
        if value is None or field.secret:
            value = ""
        shown.append(
            FormField(
                name=PREFIX + field.name,
                key=field.name,
                label=label_of(field.name),
                kind=_kind(field),
                help=in_words(definition, field.description),
                value=str(value).lower() if isinstance(value, bool) else str(value),
                required=field.required and not has_stored,
                basic=definition.is_basic(field),
                stored=has_stored,
                removable=has_stored and not field.required,
                options=_options(field),
            )
        )
    return shown


def _options(field: ConfigField) -> tuple[tuple[str, str], ...]:
    choices = YES_OR_NO if field.type == "boolean" else tuple((choice, choice) for choice in field.choices)
    return (("", "Choose one" if field.required else "Default"), *choices) if choices else ()


def _kind(field: ConfigField) -> str:
    if field.secret:
        return "password"
    if field.choices or field.type == "boolean":
        return "select"
    return "area" if field.format is Format.LINES else "text"


def posted_config(
    definition: ChannelDefinition, posted: Mapping[str, str], stored: Mapping[str, object]
) -> dict[str, object]:
    """The configuration that a form asks for. What was stored under names that the declaration does not have stays;
    None stands for a secret that is taken away."""
    known = {field.name for field in definition.fields}
    config = {name: value for name, value in stored.items() if name not in known}
    for field in definition.fields:
        text = posted.get(PREFIX + field.name, "")
        # Blanks and line ends around a value come from copying; a text of several lines has LF.
        text = text.replace("\r\n", "\n") if field.format is Format.LINES else text.strip()
        if field.secret and REMOVE + field.name in posted:
            config[field.name] = None
        elif text:
            config[field.name] = _value(field, text)
    return config


def config_to_save(
    definition: ChannelDefinition, posted: Mapping[str, str], stored: Mapping[str, object]
) -> dict[str, object]:
    """The configuration that a form asks for, with the stored secrets in their places."""
    asked = posted_config(definition, posted, stored)
    removed = {field.name for field in definition.fields if field.name in asked and asked[field.name] is None}
    config = with_stored_secrets(definition, asked, stored)
    return {name: value for name, value in config.items() if name not in removed}


def _value(field: ConfigField, text: str) -> object:
    """A text that is not of the field's type stays a text, so that the check reports it."""
    if field.type == "boolean" and text in ("true", "false"):
        return text == "true"
    if field.type == "number" and _NUMBER.fullmatch(text):
        return int(text)
    if field.type == "number" and _FRACTION.fullmatch(text):
        return float(text)
    return text


LATER = "(the callback address, which the next page shows)"
_CALLBACK = re.compile(r"\{base_url\}\S*\{instance_id\}(?P<rest>(?:/[\w.-]*\w)*)")
_LINK = re.compile(r"https?://[^\s,;'\")]*[^\s,;'\").:]")
_NO_PAGE = re.compile(
    r"http:.*|.*/api/agent/.*|https://www\.googleapis\.com/auth/.*|https://[\w.]*example\.(com|org).*"
)
"""Addresses in steps that name something and lead to no page."""
_CODE = Markup("<code>{}</code>")
_ANCHOR = Markup('<a href="{0}" target="_blank" rel="noopener noreferrer">{0}</a>')


def callback_address(base: str, definition: ChannelDefinition, instance: Instance) -> str:
    path = f"/api/agent/channels/{instance.channel_id}/{instance.id}/{definition.setup.webhook_path}"
    return base.rstrip("/") + path


def has_callback(definition: ChannelDefinition) -> bool:
    """Return True if the channel has an address that somebody must know: a webhook, or the trigger of a schedule."""
    return definition.setup.webhook_required or definition.setup.webhook_path != "webhook"


def steps_of(definition: ChannelDefinition, address: str | None) -> list[Markup]:
    """The steps with links; `address` is the callback address, None before there is one."""
    base = address.removesuffix(f"/{definition.setup.webhook_path}") if address else None
    linked_steps = []
    for step in definition.setup.steps:
        addressed = _CALLBACK.sub(lambda match: base + match["rest"] if base else LATER, step)
        text = in_words(definition, addressed)
        linked, end = Markup(), 0
        for match in _LINK.finditer(text):
            element = _CODE if _NO_PAGE.fullmatch(match[0]) else _ANCHOR
            linked += escape(text[end : match.start()]) + element.format(match[0])
            end = match.end()
        linked_steps.append(linked + escape(text[end:]))
    return linked_steps


def is_public(address: str) -> bool:
    """Return True if a platform on the internet may reach this address; its name is not resolved."""
    return urlsplit(address).scheme == "https" and not is_private(address)


def works_from_here(definition: ChannelDefinition, base: str) -> bool:
    """Return True if a channel works with a server at this address."""
    return not definition.setup.webhook_required or bool(definition.without_public_address) or is_public(base)


FAILING_KINDS = (EventKind.INSTANCE_HEALTH, EventKind.MESSAGE_FAILED, EventKind.DELIVERY_DEAD)
"""After these events something is broken, or works again."""

FAILS = {
    Activity.RECEIVING: "Messages do not arrive",
    Activity.PROCESSING: "Messages are not answered",
    Activity.SENDING: "Answers are not delivered",
}


def attention(state: InstanceState) -> Sequence[str]:
    """What has to be fixed, in sentences: what fails first, then what is set up wrong."""
    sentences = [
        f"{FAILS[activity]}: {health.last_error}"
        for activity, health in state.health.activities.items()
        if not health.healthy
    ]
    sentences += [warning[:1].upper() + warning[1:] for warning in state.health.warnings]
    if state.cooldown.seconds:
        sentences.append(
            f"The platform asked to wait: nothing is sent for {duration(state.cooldown.seconds)}"
        )
    elif state.cooldown.conversations:
        sentences.append(f"The platform asked to wait in {state.cooldown.conversations} conversation(s)")
    return sentences


_CHANGE = Markup('<a href="/console/channels/{}/edit">Change</a>')
_RESOURCE = Markup('<a href="/console/resources?resource={}">Resources</a>')


def next_steps(instance: Instance, health: Health) -> list[Markup]:
    """What a person can do about what fails, a sentence for each cause."""
    change = _CHANGE.format(instance.id)
    steps = {
        Activity.RECEIVING: Markup(
            "Messages do not arrive: correct it on the platform, or under {}. The platform is asked again by itself."
        ).format(change),
        Activity.PROCESSING: Markup(
            "Messages are not answered: try the resource under {}. What waits is given to it again by itself."
        ).format(_RESOURCE.format(quote(instance.resource_id or "", safe=""))),
        Activity.SENDING: Markup(
            "Answers are not delivered: correct it on the platform, or under {}. What waits is sent again by itself."
        ).format(change),
    }
    failing = [activity for activity, state in health.activities.items() if not state.healthy]
    shown = [steps[activity] for activity in failing]
    if health.warnings and not shown:
        shown.append(Markup("Correct it on the platform, or under {}.").format(change))
    return shown
