"""Shows answers to visitors: whole, unfinished, and as questions that are decided.

Opens conversations for messages that answer none: those of visitors whose session is known.

The web-chat channel: a panel on web pages, of which this service is the platform.
"""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft
from adapters.outbound.channels.common.messages import split_question
from adapters.outbound.channels.web_chat import site
from adapters.outbound.channels.web_chat.config import (
    CONFIG,
    DEFINITION,
    TARGET,
    WebChatConfig,
    WebChatTarget,
)
from adapters.outbound.rendering import markdown_nodes
from domain.channels.answers import Answer, Artifact, Author, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits
from domain.channels.messages import Attachment, Outcome, Sent
from domain.refusals import Unavailable
from domain.rendering import off_loop
from domain.web_chat.model import ChatMessage, ChatPlace
from ports.capabilities import Opened, OpenRequest
from ports.channels import Channel, ChannelDependencies

DRAFT_SECONDS = 0.4
LONGEST_DRAFT = 30_000
"""Characters of an unfinished answer that are shown."""
TYPING_SHOWN = 5.0
_MESSAGE = "message"
_AUTHORS = {Author.RESOURCE: "agent", Author.PERSON: "person"}


class Delivery:
    """Renders and stores messages. The id of a message is the key with which it is sent: twice is once."""

    typing_seconds = 4.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._log = dependencies.web_chat
        self._ids = dependencies.ids

    def render(self, config: WebChatConfig, target: WebChatTarget, answer: Answer) -> list[OutboundMessage]:
        """The text, then the question with its buttons; files stand below the first of them."""
        parts = [markdown_nodes(part) for part in split_question(answer) if part.strip()]
        files = [
            {"name": file.name, "mimeType": file.mime_type, "size": file.size, "url": file.url}
            for file in answer.artifacts
        ]
        author = _AUTHORS.get(answer.author, "system")
        shown = parts or ([[]] if files or answer.choices else [])
        payloads: list[dict[str, Any]] = [_body(author, content) for content in shown]
        if files:
            payloads[0]["files"] = files
        if answer.choices:
            payloads[-1]["choices"] = [
                {"label": choice.label, "value": choice.button_value} for choice in answer.choices
            ]
        payloads = in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
        return [OutboundMessage({"kind": _MESSAGE, **payload}) for payload in payloads]

    def limits(self, config: WebChatConfig, target: WebChatTarget) -> Limits:
        return Limits(f"web-chat {target.instance}")

    async def send(
        self, config: WebChatConfig, target: WebChatTarget, message: OutboundMessage, key: str
    ) -> Sent:
        body = dict(message.payload)
        kind, draft = body.pop("kind"), text(body, "draft")
        body.pop("draft", None)
        place = _place(target)
        try:
            if kind == WITHDRAWN:
                await self._log.remove(place, draft)
                return Sent(Outcome.SENT, ref=draft)
            await self._log.write(place, ChatMessage(draft or key, body))
        except Unavailable as away:
            return Sent(Outcome.TRANSIENT, away.message)
        return Sent(Outcome.SENT, ref=draft or key)

    def preview(self, config: WebChatConfig, target: WebChatTarget) -> Preview:
        return Preview(DRAFT_SECONDS, LONGEST_DRAFT, _unfinished)

    async def draft(
        self, config: WebChatConfig, target: WebChatTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        body = _body(_AUTHORS[Author.RESOURCE], message.payload["content"])
        shown = ChatMessage(draft or key, body, draft=True)
        try:
            stored = await self._log.change(_place(target), shown)
        except Unavailable as away:
            return Sent(Outcome.TRANSIENT, away.message)
        return Sent(Outcome.SENT, ref=shown.id) if stored else Sent(Outcome.PERMANENT, "It was erased.")

    async def typing(self, config: WebChatConfig, target: WebChatTarget) -> Sent:
        try:
            await self._log.typing(_place(target), TYPING_SHOWN)
        except Unavailable as away:
            return Sent(Outcome.TRANSIENT, away.message)
        return Sent(Outcome.SENT)

    def prompt_target(
        self,
        config: WebChatConfig,
        target: WebChatTarget,
        message: OutboundMessage,
        ref: str,
        press: WebChatTarget | None,
    ) -> WebChatTarget | None:
        if not message.payload.get("choices"):
            return None
        author = text(message.payload, "from")
        return WebChatTarget(instance=target.instance, session=target.session, prompt=ref, author=author)

    async def close_prompt(self, config: WebChatConfig, target: WebChatTarget, closed: ClosedPrompt) -> None:
        if target.prompt:
            content = await off_loop(len(closed.text), markdown_nodes, closed.text)
            body = _body(target.author, content)
            await self._log.change(_place(target), ChatMessage(target.prompt, body))

    async def acknowledge_press(self, config: WebChatConfig, target: WebChatTarget, notice: str) -> None:
        if notice:
            body = _body("system", markdown_nodes(notice))
            await self._log.change(_place(target), ChatMessage(f"notice:{self._ids.request_id()}", body))


class Files:
    """Reads the files of visitors, which the service has stored already."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._artifacts = dependencies.artifacts

    def fetch(self, config: WebChatConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        blob = text(attachment.source, "blob")
        return self._artifacts.read(Artifact(attachment.name, attachment.mime_type, "", blob))


def _place(target: WebChatTarget) -> ChatPlace:
    return ChatPlace(target.instance, target.session)


def _body(author: str, content: object) -> dict[str, Any]:
    return {"from": author, "content": content, "files": [], "choices": []}


def _unfinished(markdown: str) -> OutboundMessage | None:
    plain = markdown.replace("\0", "")
    if not plain.strip():
        return None
    content: Mapping[str, object] = {"text": plain, "content": markdown_nodes(plain)}
    return OutboundMessage(content)


_SEEN = r"[^\x00-\x20\x7f]"
_SESSION = re.compile(rf"v-[A-Za-z0-9_-]{{22}}|u-{_SEEN}(?:[^\x00-\x1f\x7f]*{_SEEN})?")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the session id of a visitor, or u- and the sub of a signed identity, such as u-42"

    def default_address(self, config: WebChatConfig) -> str:
        return ""

    async def open(self, config: WebChatConfig, request: OpenRequest) -> Opened[WebChatTarget]:
        session = read_address(_SESSION, request.to, self.address)[0]
        return Opened(session, WebChatTarget(instance=request.instance_id, session=session))


def build(dependencies: ChannelDependencies) -> Channel[WebChatConfig, WebChatTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        chat_site=site,
        sender=delivery,
        opener=Opener(),
        fetcher=Files(dependencies),
        limits=delivery,
        typing=delivery,
        streaming=delivery,
        button_ack=delivery,
        prompt_closer=delivery,
    )
