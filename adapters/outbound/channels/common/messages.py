"""Messages to a platform: payloads of texts and files, choices below the last text, drafts and the finished answers
that replace them, prompts that are closed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from adapters.outbound.channels.common.files import FILE
from adapters.outbound.rendering import GrowingText, Markup, Rendered, render
from domain.channels.answers import Answer, ClosedPrompt, OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit
from domain.confirmations.model import is_approval
from domain.conversations.choices import is_reference
from domain.conversations.forms import is_form
from domain.feedback.model import is_thumb
from domain.rendering import off_loop


def split_question(answer: Answer) -> tuple[str, str]:
    """The text before the question that the choices answer, and the question, empty without choices.

    The question becomes a message of its own: once it is decided it is replaced, and the text before it stays.
    """
    if not answer.choices:
        return answer.text, ""
    question = answer.question or answer.text
    return answer.text.removesuffix(question).rstrip(), question


def rendered(answer: Answer, markup: Markup, limit: TextLimit) -> list[Rendered]:
    """The text in pieces within the limit, the question in pieces of its own."""
    return [piece for part in split_question(answer) for piece in render(markup, part, limit)]


def text_payloads(
    texts: Sequence[Rendered], answer: Answer, *, with_plain: bool = False, **common: Any
) -> list[dict[str, Any]]:
    """The payloads of the texts, the last one with the answer's choices as [label, value] pairs.

    `with_plain`: each also has its text without markup. `common` is part of each payload.
    """
    if answer.choices:
        texts = texts or [Rendered("?", "?")]
    payloads = [{"kind": "text", "text": text.text, **common} for text in texts]
    if with_plain:
        payloads = [{**payload, "plain": text.plain} for payload, text in zip(payloads, texts, strict=True)]
    if answer.choices:
        payloads[-1]["choices"] = [[choice.label, choice.button_value] for choice in answer.choices]
    return payloads


def file_payloads(answer: Answer) -> list[dict[str, Any]]:
    """The payloads of the messages that send one file each; `files.artifact_of` reads them."""
    return [
        {
            "kind": FILE,
            "name": artifact.name,
            "mimeType": artifact.mime_type,
            "url": artifact.url,
            "blob": artifact.blob,
            "size": artifact.size,
        }
        for artifact in answer.artifacts
    ]


async def closed_text(markup: Markup, closed: ClosedPrompt, limit: TextLimit) -> Rendered | None:
    """The text of a closed prompt in one message, None if it takes more and has no brief form."""
    pieces = await off_loop(len(closed.text), render, markup, closed.text, limit)
    if len(pieces) == 1:
        return pieces[0]
    return render(markup, closed.brief, limit)[0] if closed.brief else None


def cut_labels(labels: Sequence[str], size: int) -> list[str]:
    """The labels within a platform's limit. Where two would read the same, they begin with their number."""
    cut = [_cut(label, size) for label in labels]
    if len(set(cut)) == len(cut):
        return cut
    return [_cut(f"{number}. {label}", size) for number, label in enumerate(labels, start=1)]


def labelled(choices: Sequence[Sequence[str]], size: int) -> list[tuple[str, str]]:
    """The [label, value] pairs of choices, with labels of at most `size` characters."""
    labels = cut_labels([label for label, _ in choices], size)
    return [(label, value) for label, (_, value) in zip(labels, choices, strict=True)]


def _cut(label: str, size: int) -> str:
    return label if len(label) <= size else f"{label[: size - 1].rstrip()}…"


def is_own(value: str) -> bool:
    """The value of a button that the service made."""
    return any(is_of_ours(value) for is_of_ours in (is_reference, is_approval, is_form, is_thumb))


def pressed_text(label: str, value: str) -> str:
    """The text of the press of a button: what the person read on it, where its value is a name of ours."""
    return label if label and is_own(value) else value


WITHDRAWN = "withdrawn"
"""The kind of a message that deletes a draft."""
_MORE = " …"
_MORE_ROOM = 8
"""In any unit of limits."""


def preview(markup: Markup, limit: TextLimit, seconds: float) -> Preview:
    """Shows what fits into one message, as `text` and `plain`, with a sign that it goes on."""
    growing = GrowingText(markup, TextLimit(limit.size - _MORE_ROOM, limit.unit))

    def shown_so_far(markdown: str) -> OutboundMessage | None:
        shown = growing.rendered(markdown.encode("utf-8", "replace").decode().replace("\0", ""))
        if not shown.text.strip():
            return None
        return OutboundMessage({"text": shown.text + _MORE, "plain": shown.plain + _MORE})

    return Preview(seconds, limit.size * 5 // 4, shown_so_far)


def in_place_of_draft(
    payloads: Sequence[dict[str, Any]], draft: str, *, has_text: bool
) -> list[dict[str, Any]]:
    """The first payload takes the draft's place; without text to show, the draft is deleted first."""
    if not draft:
        return list(payloads)
    if not has_text:
        return [{"kind": WITHDRAWN, "draft": draft}, *payloads]
    return [{**payloads[0], "draft": draft}, *payloads[1:]]


async def replaced(
    edit: Callable[[], Awaitable[Sent]],
    withdraw: Callable[[], Awaitable[Sent]],
    post: Callable[[], Awaitable[Sent]],
) -> Sent:
    """The outcome of showing an answer in place of its draft. Where the draft cannot be edited, as a person deleted
    it or the bot may not, it is deleted if that is possible, and a new message is sent."""
    sent = await edit()
    if sent.outcome is not Outcome.PERMANENT:
        return sent
    await withdraw()
    return await post()
