"""The texts of notifications."""

from datetime import UTC, datetime

import pytest

from domain.notifications.model import Notification, NotificationKind
from domain.notifications.texts import CATALOGUES, ENGLISH, LONGEST_ERROR, language_of, mail_of, text_of

AT = datetime(2026, 3, 2, tzinfo=UTC)
ERROR = "refused\r\nBcc: eve@example.com {actor} " + "x" * 1000


@pytest.mark.parametrize("language", CATALOGUES)
@pytest.mark.parametrize("kind", NotificationKind)
def test_each_kind_is_one_line_in_each_language(kind: NotificationKind, language: str) -> None:
    data = {"error": ERROR, "activity": "sending", "tool": "refund", "team": "a {b}"}
    text = text_of(Notification(1, kind, AT, 7, "Support\nline", actor="{0.__class__}", data=data), language)
    assert text == " ".join(text.split())
    assert len(text) < 2 * LONGEST_ERROR
    assert text_of(Notification(1, kind, AT), language)


def test_catalogues_have_the_same_keys() -> None:
    assert all(catalogue.keys() == ENGLISH.keys() for catalogue in CATALOGUES.values())


def test_languages_are_found_by_their_tags() -> None:
    assert [language_of(tag) for tag in ("en", "en-GB", "EN_us", "tlh", "")] == ["en", "en", "en", None, None]


def test_one_mail_has_several_texts() -> None:
    notifications = [
        Notification(
            number, NotificationKind.HEALTHY, AT, 7, "Support", text=f"text {number}", url="https://x"
        )
        for number in (1, 2)
    ]
    mail = mail_of(notifications, "en")
    assert mail.subject == "2 notifications"
    assert mail.text.startswith("text 1\nhttps://x\n\ntext 2\nhttps://x\n\n")
