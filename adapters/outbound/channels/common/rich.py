"""Rich content of answers in the messages of a platform: which links become buttons, and the rest as text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.messages import cut_labels
from domain.channels.answers import Answer
from domain.channels.rich import Card, LinkButton, RichContent
from domain.conversations.rich_text import with_text

LINKS = "links"
"""The key of a payload under which links stand as [label, address] pairs."""


def split_links(
    buttons: Sequence[LinkButton], most: int, longest_url: int
) -> tuple[list[LinkButton], tuple[LinkButton, ...]]:
    """The links that the platform takes as buttons, and the others: it takes addresses of the web up to a length."""
    native = [button for button in buttons if button.is_web and len(button.url) <= longest_url][:most]
    return native, tuple(button for button in buttons if button not in native)


def labelled_links(buttons: Sequence[LinkButton], size: int) -> list[list[str]]:
    """The [label, address] pairs, with labels of at most `size` characters."""
    labels = cut_labels([button.label for button in buttons], size)
    return [[label, button.url] for label, button in zip(labels, buttons, strict=True)]


def with_links(
    answer: Answer, most: int, longest_url: int, label_size: int
) -> tuple[Answer, list[list[str]]]:
    """The answer with the links that the platform does not take as text, and those that it takes."""
    if answer.rich is None or not answer.rich.buttons:
        return answer, []
    native, others = split_links(answer.rich.buttons, most, longest_url)
    rich = replace(answer.rich, buttons=())
    shown = with_text(replace(answer, rich=RichContent(buttons=others)))
    return replace(shown, rich=rich), labelled_links(native, label_size)


def card_alone(card: Card) -> Answer:
    """An answer that says nothing but the card, for where it cannot be shown as one."""
    return with_text(Answer("", rich=RichContent(cards=(card,))))


def under_last(payloads: list[dict[str, Any]], links: list[list[str]]) -> list[dict[str, Any]]:
    """The payloads of texts, the last of them with links below it."""
    if links:
        payloads = payloads or [{"kind": "text", "text": "", "plain": ""}]
        payloads[-1][LINKS] = links
    return payloads


def with_addresses(payload: Mapping[str, Any]) -> str:
    """The plain text of a payload, with the links below it as text."""
    links = (f"{label}: {url}" for label, url in payload.get(LINKS, ()))
    return "\n".join(filter(None, (payload["plain"], *links)))
