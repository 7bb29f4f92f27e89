"""The texts of notifications."""

from datetime import UTC, datetime
from string import Formatter

import pytest

from domain.notifications.catalogues import CATALOGUES, ENGLISH
from domain.notifications.model import Notification, NotificationKind
from domain.notifications.texts import LONGEST_ERROR, language_of, mail_of, text_of

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


@pytest.mark.parametrize("language", CATALOGUES)
def test_catalogues_have_the_same_texts_with_the_same_fields(language: str) -> None:
    def fields(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    catalogue = CATALOGUES[language]
    assert {key: fields(text) for key, text in catalogue.items()} == {
        key: fields(text) for key, text in ENGLISH.items()
    }
    assert language == "en" or not set(catalogue.values()) & set(ENGLISH.values()) - {"{count} notifications"}


def test_languages_are_found_by_their_tags() -> None:
    assert [language_of(tag) for tag in ("en", "en-GB", "EN_us", "pt-BR", "zh_Hans", "tlh", "")] == [
        "en", "en", "en", "pt", "zh", None, None,
    ]  # fmt: skip


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
