"""What cards of programs show as text."""

from typing import Any

import pytest

from adapters.outbound.channels.common.contents import card_text

LOG = "https://ci.example/log"
CARDS: dict[str, Any] = {
    "Discord's embed": {
        "type": "rich",
        "title": "Build failed",
        "url": LOG,
        "description": "See the log.",
        "fields": [{"name": "Host", "value": "db1", "inline": True}],
    },
    "Discord's components": [
        {
            "type": 17,
            "components": [
                {"type": 10, "content": f"Build failed ({LOG})"},
                {"type": 9, "components": [{"type": 10, "content": "See the log."}]},
                {"type": 2, "style": 1, "label": "Run again", "custom_id": "again"},
                {"type": 10, "content": "Host: db1"},
            ],
        }
    ],
    "Slack's blocks": [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "Build failed"},
            "accessory": {"type": "button", "text": {"type": "plain_text", "text": "Run"}, "value": "run"},
            "url": LOG,
        },
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "text", "text": "See "}, {"type": "text", "text": "the log."}],
                }
            ],
        },
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "Host: db1"}]},
    ],
    "Slack's attachment": {
        "title": "Build failed",
        "title_link": LOG,
        "text": "See the log.",
        "fields": [{"title": "Host", "value": "db1", "short": True}],
    },
    "Teams' card": {
        "type": "AdaptiveCard",
        "body": [
            {"type": "TextBlock", "text": f"Build failed ({LOG})"},
            {"type": "RichTextBlock", "inlines": ["See ", {"type": "TextRun", "text": "the log."}]},
            {"type": "FactSet", "facts": [{"title": "Host", "value": "db1"}]},
        ],
        "actions": [{"type": "Action.Submit", "title": "Run again"}],
    },
}


@pytest.mark.parametrize("card", CARDS)
def test_a_card_is_read_as_a_person_sees_it(card: str) -> None:
    assert card_text(CARDS[card]) == f"Build failed ({LOG})\nSee the log.\nHost: db1"


@pytest.mark.parametrize(
    "button",
    [
        {"type": 2, "style": 5, "label": "Open", "url": LOG},
        {"type": "button", "text": {"type": "plain_text", "text": "Open"}, "url": LOG},
        {"type": "Action.OpenUrl", "title": "Open", "url": LOG},
        {"type": "openUrl", "title": "Open", "value": LOG},
        {"type": "rich_text_section", "elements": [{"type": "link", "text": "Open", "url": LOG}]},
    ],
)
def test_a_button_that_opens_a_page_tells_its_address(button: dict[str, Any]) -> None:
    assert card_text(button) == f"Open ({LOG})"


@pytest.mark.parametrize("card", [None, "text", 7, [], {}, {"body": "text"}, {"elements": [[[None]]]}])
def test_what_is_no_card_shows_nothing(card: Any) -> None:
    assert card_text(card) == ""


def test_a_card_without_end_is_cut() -> None:
    card: dict[str, Any] = {"title": "last"}
    for _ in range(2000):
        card = {"title": "x", "items": [card]}
    assert card_text(card).count("x") < 1000
