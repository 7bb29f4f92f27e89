"""Bare addresses are links, whole and as they stand."""

import pytest

from adapters.outbound.rendering import Markup, render


@pytest.mark.parametrize(
    ("source", "address", "after"),
    [
        ("see https://a.b/?q=_2_&c=*d*e.", "https://a.b/?q=_2_&c=*d*e", "."),
        ("see (https://a.b/c_(d))!", "https://a.b/c_(d)", ")!"),
        ("see [https://a.b/c]", "https://a.b/c", "]"),
        ("see HTTPS://A.B/c?d", "HTTPS://A.B/c?d", ""),
        ('see "https://a.b/~c/", ok', "https://a.b/~c/", '", ok'),
    ],
)
def test_an_address_is_taken_whole(source: str, address: str, after: str) -> None:
    (mail,) = render(Markup.EMAIL, source, None)
    (slack,) = render(Markup.MRKDWN, source, None)
    (plain,) = render(Markup.PLAIN, source, None)

    shown = address.replace("&", "&amp;")
    assert f'<a href="{shown}">{shown}</a>{after.replace(chr(34), "&quot;")}' in mail.text
    assert f"{shown}{after}" in slack.text
    assert plain.text == source


def test_emphasis_around_an_address_holds() -> None:
    (message,) = render(Markup.TELEGRAM_HTML, "**https://a.b/c** and *x*", None)

    assert message.text == "<b>https://a.b/c</b> and <i>x</i>"


@pytest.mark.parametrize("source", ["xhttps://a.b", "https://", "ftp://a.b", "`https://a.b`", "https:// a"])
def test_what_is_no_address_stays_text(source: str) -> None:
    (mail,) = render(Markup.EMAIL, source, None)

    assert "<a " not in mail.text


def test_the_text_of_a_link_may_be_an_address() -> None:
    (message,) = render(Markup.TELEGRAM_HTML, "[https://a.b](https://c.d)", None)

    assert message.text == '<a href="https://c.d">https://a.b</a>'


@pytest.mark.parametrize("markup", [Markup.DISCORD, Markup.MATTERMOST, Markup.TEAMS])
def test_markdown_platforms_get_addresses_unescaped(markup: Markup) -> None:
    (message,) = render(markup, "at https://a.b/c_d_[e]*f* now", None)

    assert message.text == "at https://a.b/c_d_[e]*f* now"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (Markup.MRKDWN, "<mailto:a@b.c|me> or <tel:+49123|call>, https://a.b/c_d, x@y.z"),
        (Markup.TELEGRAM_HTML, "me (a@b.c) or call (+49123), https://a.b/c_d, x@y.z"),
        (Markup.DISCORD, "me (a@b.c) or call (+49123), https://a.b/c_d, x@y.z"),
        (Markup.PLAIN, "me (a@b.c) or call (+49123), https://a.b/c_d, x@y.z"),
    ],
)
def test_an_address_is_shown_as_a_person_writes_it_and_once(markup: Markup, text: str) -> None:
    source = (
        "[me](mailto:a@b.c) or [call](tel:+49123), [https://a.b/c_d](https://a.b/c_d), [x@y.z](mailto:x@y.z)"
    )
    (message,) = render(markup, source, None)

    assert message.text == text


def test_an_escape_does_not_become_part_of_an_address() -> None:
    source = "https://a.b/c<tag>next"

    assert render(Markup.DISCORD, source, None)[0].text == r"https://a.b/c \<tag>next"
    assert render(Markup.TEAMS, source, None)[0].text == "https://a.b/c &lt;tag>next"
    assert render(Markup.MATTERMOST, source, None)[0].text == source
