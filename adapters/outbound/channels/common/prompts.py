"""Prompts with buttons: messages of their own, and what they read when they are over."""

from __future__ import annotations

from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, ClosedPrompt
from domain.channels.model import TextLimit


def parted(answer: Answer) -> tuple[str, str]:
    """What stands before the question that the choices answer, and the question, empty without choices.

    The question gets a message of its own: when it is over it is replaced, and what stands before it stays.
    """
    if not answer.choices:
        return answer.text, ""
    question = answer.question or answer.text
    return answer.text.removesuffix(question).rstrip(), question


def closed_text(markup: Markup, closed: ClosedPrompt, limit: TextLimit) -> Rendered:
    """What a prompt that is over reads, in one message."""
    pieces = render(markup, closed.text, limit)
    return pieces[0] if len(pieces) == 1 else render(markup, closed.brief, limit)[0]
