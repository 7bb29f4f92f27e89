"""The web-chat channel: a panel on web pages, of which this service is the platform."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import jwt

from adapters.outbound.channels.common import addresses, messages
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.rendering import markdown_nodes
from domain.channels.answers import Answer, Artifact, Author, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits
from domain.channels.messages import Attachment, Outcome, Sent
from domain.refusals import Unauthenticated, Unavailable
from domain.rendering import off_loop
from domain.web_chat.model import ChatMessage, ChatPlace, SignedIdentity, Site
from ports.capabilities import Opened, OpenRequest
from ports.channels import Channel, ChannelDependencies

from .config import CONFIG, DEFINITION, TARGET, WebChatConfig, WebChatTarget, origins_of

DRAFT_SECONDS = 0.4
LONGEST_DRAFT = 30_000
"""Characters of an unfinished answer that are shown."""
TYPING_SHOWN = 5.0
_MESSAGE = "message"
_SEEN = r"[^\x00-\x20\x7f]"
_SESSION = re.compile(rf"v-[A-Za-z0-9_-]{{22}}|u-{_SEEN}(?:[^\x00-\x1f\x7f]*{_SEEN})?")
LONGEST_SUBJECT = 200
LONGEST_TOKEN = 4000
_AUTHORS = {Author.RESOURCE: "agent", Author.PERSON: "person"}


class WebChat(addresses.NoDefaultAddress):
    """All capabilities of the channel. The id of a message is the key with which it is sent: twice is once."""

    typing_seconds = 4.0
    address = "the session id of a visitor, or u- and the sub of a signed identity, such as u-42"

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._log = dependencies.web_chat
        self._ids = dependencies.ids
        self._artifacts = dependencies.artifacts

    def site(self, config: WebChatConfig) -> Site:
        return Site(
            origins=origins_of(config.allowed_origins),
            title=config.title,
            greeting=config.greeting,
            colour=config.colour,
            secret=config.identity_secret,
        )

    def identified(self, config: WebChatConfig, token: str, now: datetime) -> SignedIdentity:
        """Reads a JSON Web Token of the site's backend. Raises `Unauthenticated`."""
        if not config.identity_secret:
            raise Unauthenticated("this chat takes no signed identities: its instance has no identitySecret")
        try:
            claims = jwt.decode(
                token[: LONGEST_TOKEN + 1],
                config.identity_secret,
                algorithms=["HS256"],
                options={
                    "require": ["sub", "exp"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_aud": False,
                },
            )
            expires = datetime.fromtimestamp(int(claims["exp"]), UTC)
        except (jwt.InvalidTokenError, ValueError, OverflowError, OSError, TypeError):
            raise Unauthenticated("the signed identity is not valid; load the page again") from None
        if expires <= now:
            raise Unauthenticated("the signed identity has expired; load the page again")
        texts = (claims.get(claim) for claim in ("sub", "name", "email"))
        subject, name, email = (text.strip() if isinstance(text, str) else "" for text in texts)
        if not subject or len(subject) > LONGEST_SUBJECT or not subject.isprintable():
            raise Unauthenticated(f"the signed identity needs a sub of 1 to {LONGEST_SUBJECT} characters")
        return SignedIdentity(subject, name[:LONGEST_SUBJECT], email[:LONGEST_SUBJECT])

    async def open(self, config: WebChatConfig, request: OpenRequest) -> Opened[WebChatTarget]:
        session = addresses.read_address(_SESSION, request.to, self.address)[0]
        return Opened(session, WebChatTarget(instance=request.instance_id, session=session))

    def fetch(self, config: WebChatConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """Reads a visitor's file, which the service has stored already."""
        blob = text(attachment.source, "blob")
        return self._artifacts.read(Artifact(attachment.name, attachment.mime_type, "", blob))

    def render(self, config: WebChatConfig, target: WebChatTarget, answer: Answer) -> list[OutboundMessage]:
        """The text, then the question with its buttons; files stand below the first of them."""
        author = _AUTHORS.get(answer.author, "system")
        payloads = [
            _body(author, markdown_nodes(part)) for part in messages.split_question(answer) if part.strip()
        ]
        files = [
            {"name": file.name, "mimeType": file.mime_type, "size": file.size, "url": file.url}
            for file in answer.artifacts
        ]
        if not payloads and (files or answer.choices):
            payloads = [_body(author, [])]
        if files:
            payloads[0]["files"] = files
        if answer.choices:
            payloads[-1]["choices"] = [
                {"label": choice.label, "value": choice.button_value} for choice in answer.choices
            ]
        payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
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
            if kind == messages.WITHDRAWN:
                await self._log.remove(place, draft)
                return Sent(Outcome.SENT, ref=draft)
            await self._log.write(place, ChatMessage(draft or key, body))
        except Unavailable as away:
            return Sent(Outcome.TRANSIENT, away.message)
        return Sent(Outcome.SENT, ref=draft or key)

    def preview(self, config: WebChatConfig, target: WebChatTarget) -> Preview:
        def render(markdown: str) -> OutboundMessage | None:
            plain = markdown.replace("\0", "")
            if not plain.strip():
                return None
            return OutboundMessage({"text": plain, "content": markdown_nodes(plain)})

        return Preview(DRAFT_SECONDS, LONGEST_DRAFT, render)

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


def _place(target: WebChatTarget) -> ChatPlace:
    return ChatPlace(target.instance, target.session)


def _body(author: str, content: object) -> dict[str, Any]:
    return {"from": author, "content": content, "files": [], "choices": []}


def build(dependencies: ChannelDependencies) -> Channel[WebChatConfig, WebChatTarget]:
    chat = WebChat(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        chat_site=chat,
        sender=chat,
        opener=chat,
        fetcher=chat,
        limits=chat,
        typing=chat,
        streaming=chat,
        button_ack=chat,
        prompt_closer=chat,
    )
