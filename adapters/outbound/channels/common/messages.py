"""Messages to a platform: payloads of texts and files, choices below the last text, prompts that are closed."""

from collections.abc import Sequence
from typing import Any

from adapters.outbound.channels.common.files import file_payload
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, ClosedPrompt
from domain.channels.model import TextLimit


def split_question(answer: Answer) -> tuple[str, str]:
    """The text before the question that the choices answer, and the question, empty without choices.

    The question becomes a message of its own: once it is decided it is replaced, and the text before it stays.
    """
    if not answer.choices:
        return answer.text, ""
    question = answer.question or answer.text
    return answer.text.removesuffix(question).rstrip(), question


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
        payloads[-1]["choices"] = [[choice.label, choice.value] for choice in answer.choices]
    return payloads


def file_payloads(answer: Answer) -> list[dict[str, Any]]:
    return [file_payload(artifact) for artifact in answer.artifacts]


def closed_text(markup: Markup, closed: ClosedPrompt, limit: TextLimit) -> Rendered:
    """The text of a closed prompt, in one message."""
    pieces = render(markup, closed.text, limit)
    return pieces[0] if len(pieces) == 1 else render(markup, closed.brief, limit)[0]
