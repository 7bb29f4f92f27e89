"""The business-messaging channel: the WhatsApp Cloud API. Sent messages cannot be changed: no `PromptCloser`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from adapters.outbound.channels.common import addresses, files, messages
from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Attachment, Outcome, Sent
from domain.conversations.rich_text import with_text
from ports.capabilities import Opened, OpenRequest, TemplateRules
from ports.channels import ArtifactReader, Channel, ChannelDependencies
from ports.http import FormFile

from . import rich, webhook
from .api import BASE, MAX_DOCUMENT, PAIR_SECONDS, GraphApi
from .config import BUTTONS, CONFIG, DEFINITION, TARGET, TEXT_LIMIT, WINDOW, WhatsAppConfig, WhatsAppTarget

_BUTTONS = 3
_BUTTON_TITLE = 20
_ROW_TITLE, _DESCRIPTION = 24, 72
_LIST_BUTTON = "Choose"
"""https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-reply-buttons-messages and
https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-list-messages"""
TEMPLATE = "template"
_MB = 1024 * 1024
_KINDS = {
    "image": (frozenset({"image/jpeg", "image/png"}), 5 * _MB),
    "video": (frozenset({"video/mp4", "video/3gpp"}), 16 * _MB),
    "audio": (frozenset({"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"}), 16 * _MB),
}
"""Media types and sizes of pictures, videos and sounds; other files are sent as documents
(https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types)."""
STATUS_SECONDS = 20.0
"""Within which a status arrives for a message that was delivered."""
_NUMBER_QUOTAS = (Quota(80, 1.0, burst=16),)
_PERSON_QUOTAS = (Quota(45, PAIR_SECONDS, burst=45),)
"""https://developers.facebook.com/docs/whatsapp/cloud-api/overview#throughput: 80 messages a second in all; to one
person 45 at once, then one every six seconds."""


class Delivery(addresses.NoDefaultAddress):
    typing_seconds = 20.0
    """WhatsApp shows it for up to 25 seconds."""
    address = addresses.PHONE_EXAMPLE

    def __init__(self, api: GraphApi, artifacts: ArtifactReader) -> None:
        self._api = api
        self._artifacts = artifacts

    def render(
        self, config: WhatsAppConfig, target: WhatsAppTarget, answer: Answer
    ) -> Sequence[OutboundMessage]:
        """Up to three choices with short labels are buttons, others rows of a list. One link is a button."""
        if answer.template:
            return [OutboundMessage({"kind": TEMPLATE, **asdict(answer.template)})]
        answer = with_text(answer) if target.group else answer
        payloads = [*_payloads(answer), *messages.file_payloads(answer)]
        return [OutboundMessage(payload) for payload in payloads]

    async def open(self, config: WhatsAppConfig, request: OpenRequest) -> Opened[WhatsAppTarget]:
        """WhatsApp names people by their number in digits, as `from` of their messages does."""
        phone = addresses.read_address(addresses.PHONE, request.to, self.address)[0].removeprefix("+")
        return Opened(phone, WhatsAppTarget(to=phone))

    def limits(self, config: WhatsAppConfig, target: WhatsAppTarget) -> Limits:
        conversation = target.group or target.to or target.recipient
        return Limits(config.phone_number_id, conversation, _NUMBER_QUOTAS, _PERSON_QUOTAS)

    async def send(
        self, config: WhatsAppConfig, target: WhatsAppTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """The key comes back with the statuses of the message: a message whose sending broke off is found by it."""

        async def post(content: Mapping[str, Any]) -> Sent:
            sent = await self._api.send(config, _message(target, content, key))
            return replace(sent, retry_after=STATUS_SECONDS) if sent.outcome is Outcome.UNKNOWN else sent

        async def upload(artifact: Artifact, content: bytes) -> Sent | None:
            file = FormFile("file", artifact.name, artifact.mime_type, content)
            uploaded, media_id = await self._api.upload(config, file)
            if uploaded.outcome is not Outcome.SENT:
                return None if uploaded.outcome is Outcome.PERMANENT else uploaded
            for kind, (mime_types, limit) in _KINDS.items():
                if artifact.mime_type in mime_types and len(content) <= limit:
                    return await post({"type": kind, kind: {"id": media_id}})
            return await post({"type": "document", "document": {"id": media_id, "filename": artifact.name}})

        if message.payload.get("kind") != files.FILE:
            return await post(_content(message.payload))
        return await files.send_file(
            self._artifacts,
            message.payload,
            MAX_DOCUMENT,
            upload,
            lambda link: post(_content({"text": link})),
        )

    async def react(
        self, config: WhatsAppConfig, target: WhatsAppTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """A reaction is a message of its own; without an emoji it takes the earlier one away. Groups take none."""
        if target.group:
            return Sent(Outcome.PERMANENT, "WhatsApp takes no reactions in groups.")
        reaction = {"message_id": message_id, "emoji": emoji if present else ""}
        return await self._api.send(config, _message(target, {"type": "reaction", "reaction": reaction}, ""))

    async def typing(self, config: WhatsAppConfig, target: WhatsAppTarget) -> Sent | None:
        shows_typing = target.message_id and not target.group
        return await self._api.typing(config, target.message_id) if shows_typing else None

    def buttons(self, config: WhatsAppConfig, target: WhatsAppTarget) -> int:
        """Groups take texts, media and templates
        (https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/groups-messaging)."""
        return 0 if target.group else BUTTONS

    async def probe(self, config: WhatsAppConfig) -> None:
        """Reads the phone number with the token. Raises `PlatformError`."""
        await self._api.node(config, config.phone_number_id)

    def fetch(self, config: WhatsAppConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._api.download(config, text(attachment.source, "media_id"))


def _payloads(answer: Answer) -> Sequence[dict[str, Any]]:
    """The payloads of an answer but for its files."""
    link = rich.lone_link(answer)
    answer = answer if link else rich.as_text(answer)
    limit = rich.BODY if answer.choices or link else TEXT_LIMIT
    payloads = messages.text_payloads(render(Markup.WHATSAPP, answer.text, limit), answer)
    if link:
        body = payloads.pop()["text"] if payloads else link.label
        payloads.append({"kind": rich.CONTENT, "content": rich.link_message(body, link)})
    contents = rich.contents(answer.rich) if answer.rich else ()
    return [*payloads, *({"kind": rich.CONTENT, "content": content} for content in contents)]


def _message(target: WhatsAppTarget, content: Mapping[str, Any], key: str) -> dict[str, Any]:
    person = {"to": target.to} if target.to else {"recipient": target.recipient}
    receiver = {"recipient_type": "individual", **person}
    if target.group:
        receiver = {"recipient_type": "group", "to": target.group}
    return {
        "messaging_product": "whatsapp",
        **receiver,
        **content,
        **({"biz_opaque_callback_data": key} if key else {}),
    }


def _template(payload: Mapping[str, Any]) -> dict[str, Any]:
    template = {"name": payload["name"], "language": {"code": payload["language"]}}
    if not payload["parameters"]:
        return template
    parameters = [{"type": "text", "text": parameter} for parameter in payload["parameters"]]
    return {**template, "components": [{"type": "body", "parameters": parameters}]}


def _content(payload: Mapping[str, Any]) -> dict[str, Any]:
    if payload.get("kind") == rich.CONTENT:
        return dict(at(payload, "content"))
    if payload.get("kind") == TEMPLATE:
        return {"type": "template", "template": _template(payload)}
    if not (choices := payload.get("choices")):
        return {"type": "text", "text": {"preview_url": False, "body": payload["text"]}}
    return _interactive(str(payload["text"]), choices)


def _interactive(body: str, choices: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Buttons where there are few choices with short labels, else a list."""
    action: dict[str, Any]
    if len(choices) <= _BUTTONS and all(len(label) <= _BUTTON_TITLE for label, _ in choices):
        replies = [{"type": "reply", "reply": {"id": value, "title": label}} for label, value in choices]
        kind, action = "button", {"buttons": replies}
    else:
        kind, action = "list", {"button": _LIST_BUTTON, "sections": [{"rows": _rows(choices)}]}
    return {
        "type": "interactive",
        "interactive": {"type": kind, "body": {"text": body}, "action": action},
    }


def _rows(choices: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The rows of a list; a label that is too long for a title stands below it as a description."""
    labels = [label for label, _ in choices]
    rows = []
    for title, (label, value) in zip(messages.cut_labels(labels, _ROW_TITLE), choices, strict=True):
        described = {} if title == label else {"description": messages.cut_labels([label], _DESCRIPTION)[0]}
        rows.append({"id": value, "title": title, **described})
    return rows


def build(dependencies: ChannelDependencies) -> Channel[WhatsAppConfig, WhatsAppTarget]:
    delivery = Delivery(GraphApi(dependencies), dependencies.artifacts)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=delivery,
        opener=delivery,
        template_rules=TemplateRules(WINDOW),
        limits=delivery,
        button_limit=delivery,
        rich_kinds=rich.RICH_KINDS,
        typing=delivery,
        reactions=delivery,
        probe=delivery,
        fetcher=delivery,
    )
