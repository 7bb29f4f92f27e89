"""Blocks in the markups that treat them in their own way, whole and cut."""

import re
import time

import pytest

from adapters.outbound.rendering import Markup, render
from adapters.outbound.rendering.cutting import measure
from domain.channels.model import TextLimit, Unit

FENCED = [Markup.MRKDWN, Markup.DISCORD, Markup.MATTERMOST, Markup.TEAMS, Markup.TELEGRAM_MARKDOWNV2]

TELEGRAM = [markup for markup in Markup if markup.startswith("telegram")]


def only(markup: Markup, source: str) -> str:
    (message,) = render(markup, source, None)
    return message.text


def cut(markup: Markup, source: str, size: int = 300) -> list[str]:
    return [message.text for message in render(markup, source, TextLimit(size))]


def test_a_table_that_is_cut_shows_its_header_again() -> None:
    rows = "\n".join(f"| name {at} | {at * 1000} |" for at in range(30))
    parts = cut(Markup.MATTERMOST, f"| Name | Sum |\n|---|--:|\n{rows}")

    assert len(parts) > 2
    assert all(part.startswith("| Name | Sum |\n| --- | ---: |\n| name ") for part in parts)
    assert all(line.endswith(" |") for part in parts for line in part.split("\n"))


@pytest.mark.parametrize("markup", FENCED[:2])
def test_an_aligned_table_that_is_cut_shows_its_header_again(markup: Markup) -> None:
    rows = "\n".join(f"| name {at} | {at * 1000} |" for at in range(30))
    parts = cut(markup, f"| Name | Sum |\n|---|--:|\n{rows}")

    assert len(parts) > 1
    assert all(part.startswith("```\nName       Sum\n-------  -----\nname ") for part in parts)
    assert all(part.endswith("000\n```") for part in parts)


def test_wide_characters_take_two_columns() -> None:
    assert only(Markup.DISCORD, "| 名前 | n |\n|---|---|\n| ab | 1 |\n| e\u0301a | 2 |") == (
        "```\n名前  n\n----  ---\nab    1\ne\u0301a    2\n```"
    )


def test_a_wide_table_becomes_lines() -> None:
    wide = "w" * 70
    source = f"| A | B |\n|---|---|\n| {wide} | 1 |\n| x | |"

    assert only(Markup.DISCORD, source) == f"**A:** {wide}\n**B:** 1\n\n**A:** x"
    assert only(Markup.TEAMS, source) == f"- **A:** {wide}\n- **B:** 1\n\n- **A:** x"
    assert only(Markup.PLAIN, source) == f"A: {wide}\nB: 1\n\nA: x"


def test_a_table_of_a_header_alone_is_shown() -> None:
    assert only(Markup.PLAIN, "| A | B |\n|---|---|") == "A\nB"


@pytest.mark.parametrize("markup", FENCED)
def test_code_with_a_language_is_opened_with_it_in_each_message(markup: Markup) -> None:
    code = "\n".join(f"print({at})" for at in range(60))
    parts = cut(markup, f"Look:\n\n```python title=x\n{code}\n```\n\nDone.")
    opening = "```\n" if markup is Markup.MRKDWN else "```python\n"

    assert parts[0] == "Look:"
    assert len(parts) > 2
    assert all(part.startswith(opening) for part in parts[1:])
    assert [line for part in parts for line in re.findall(r"print\(\d+\)", part)] == code.split("\n")


@pytest.mark.parametrize("markup", [Markup.MRKDWN, Markup.DISCORD, Markup.WHATSAPP])
def test_fences_inside_of_code_are_broken_where_they_would_end_it(markup: Markup) -> None:
    assert only(markup, "````\n```\nx\n```\n````").count("```") == 2


def test_backticks_at_the_edges_of_code_do_not_lengthen_the_fence() -> None:
    assert only(Markup.WHATSAPP, "~~~\n`a`\n~~~") == "```\u200b`a`\u200b```"
    assert only(Markup.TELEGRAM_MARKDOWN, "~~~\na `b`\n~~~") == "```\na `b`\u200b```"


def test_mattermost_gets_a_longer_fence() -> None:
    assert only(Markup.MATTERMOST, "````\n```\nx\n```\n````") == "````\n```\nx\n```\n````"


def test_inline_code_keeps_its_backticks_where_it_can() -> None:
    assert only(Markup.DISCORD, "``a`b``") == "`` a`b ``"
    assert only(Markup.TELEGRAM_HTML, "``a`b``") == "<code>a`b</code>"
    assert only(Markup.TELEGRAM_MARKDOWNV2, "``a`b``") == r"`a\`b`"
    assert only(Markup.WHATSAPP, "``a`b``") == "a`b"


def test_a_heading_goes_with_what_follows() -> None:
    first, second = "First. " * 20, "Second. " * 25
    parts = cut(Markup.DISCORD, f"{first}\n\n## Heading\n\n{second}")

    assert parts == [first.strip(), f"## Heading\n\n{second.strip()}"]


def test_bold_text_is_bold_in_each_message() -> None:
    parts = cut(Markup.TELEGRAM_HTML, "**" + "word " * 150 + "end**", 400)

    assert len(parts) == 2
    assert all(part.startswith("<b>word") and part.endswith("</b>") for part in parts)


def test_a_link_cut_in_its_text_leads_there_from_both_messages() -> None:
    parts = render(Markup.MRKDWN, f"[{'word ' * 80}end](https://a.b)", TextLimit(300))

    assert len(parts) == 2
    assert all(part.text.startswith("<https://a.b|word") and part.text.endswith(">") for part in parts)
    assert [part.plain.count("https://a.b") for part in parts] == [0, 1]
    assert parts[1].plain.endswith("end (https://a.b)")


def test_a_long_address_is_text() -> None:
    address = "https://a.b/" + "c" * 400
    parts = render(Markup.TELEGRAM_HTML, f"[text]({address}) end", TextLimit(500))

    assert parts[0].text == f"text ({address}) end"


def test_telegram_measures_what_is_seen() -> None:
    source = "& " * 2000 + "**" + "b" * 96 + "**"
    (message,) = render(Markup.TELEGRAM_HTML, source, TextLimit(4096))

    assert len(message.text) > 4096
    assert len(message.plain) == 4096


def test_telegram_never_gets_more_than_its_servers_read() -> None:
    parts = render(Markup.TELEGRAM_HTML, "`x` " * 2040, TextLimit(4096))

    assert len(parts) == 2
    assert max(len(part.text.encode()) for part in parts) <= 30_000


def test_quotes_and_code_in_lists_begin_at_the_margin() -> None:
    assert (
        only(Markup.MATTERMOST, "- a\n  > q\n\n  ```\n  c\n  ```\n- b") == "- a\n\n> q\n\n```\nc\n```\n\n- b"
    )
    assert only(Markup.MRKDWN, "- ```\n  c\n  ```") == "• \n```\nc\n```"


def test_deep_quotes_are_flattened() -> None:
    assert only(Markup.PLAIN, "> > > > > a") == "> > > a"
    assert only(Markup.TELEGRAM_HTML, "> a\n> > b") == "<blockquote>a\n\nb</blockquote>"


def test_empty_items_keep_their_place() -> None:
    assert only(Markup.PLAIN, "- a\n-\n- b\n\n1.\n2. c") == "- a\n- \n- b\n\n1. \n2. c"


def test_nobody_is_notified_by_accident() -> None:
    assert (
        only(Markup.MATTERMOST, "@all @here @channel @alls") == "@\u200ball @\u200bhere @\u200bchannel @alls"
    )
    assert only(Markup.MRKDWN, "<!here> <@U1>") == "&lt;!here&gt; &lt;@U1&gt;"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"a\\b \\* \\", "a\\b \\\\\\* \\\\"),
        (r"\&lt; & \&x", "&amp;lt; & &x"),
        (r"C:\temp \\$1", r"C:\temp \\$1"),
        ("<x>y</x>", "<x>y</x>"),
        (r"\# x", r"\# x"),
        (r"1\. x", r"1\. x"),
        (r"x \| y", r"x \| y"),
    ],
)
def test_mattermost_escapes_only_what_its_parser_takes_back(source: str, text: str) -> None:
    assert only(Markup.MATTERMOST, source) == text


@pytest.mark.parametrize("source", ["#", ">", "```", "[](<>)", "***", "<!-- x -->"])
@pytest.mark.parametrize("markup", list(Markup))
def test_what_shows_nothing_is_not_lost(markup: Markup, source: str) -> None:
    (message,) = render(markup, source, TextLimit(2000))

    assert message.plain.strip()


def test_lists_that_are_cut_begin_at_the_margin() -> None:
    items = "\n".join(f"    - item number {at} of the inner list" for at in range(20))
    parts = cut(Markup.MATTERMOST, f"- outer\n  - inner\n{items}")

    assert len(parts) > 2
    assert all(part.startswith("- ") for part in parts)


def test_a_list_marker_is_not_left_behind() -> None:
    parts = cut(Markup.PLAIN, "- " + "x" * 400)

    assert parts == ["- " + "x" * 298, "x" * 102]


def test_a_header_too_long_to_repeat_is_shown_once() -> None:
    names = " | ".join(f"column number {at}" for at in range(8))
    rows = "\n".join("| " + " | ".join("x" * 8) + " |" for _ in range(30))
    parts = cut(Markup.MATTERMOST, f"| {names} |\n|{'---|' * 8}\n{rows}")

    assert all(len(part) <= 300 for part in parts)
    assert "\n".join(parts).count("column number 7") == 1
    assert "\n".join(parts).count("| x |") == 30 * 4


def test_a_picture_in_a_link_gives_its_text_to_the_link() -> None:
    source = "[![build](https://a.b/badge.svg)](https://c.d)"

    assert '<p><a href="https://c.d">build</a></p>' in only(Markup.EMAIL, source)
    assert only(Markup.MRKDWN, source) == "<https://c.d|build>"
    assert only(Markup.PLAIN, source) == "build (https://c.d)"


HOSTILE = {
    "brackets": "[" * 15_000,
    "pictures": "![" * 7_500,
    "closing brackets after an address": "https://a.b/" + ")" * 15_000,
    "addresses": "https://" * 2_000,
    "emphasis": "*a **b" * 2_500,
    "literal marks": r"\*a" * 5_000,
    "one wide cell": "|a|\n|-|\n|" + "x" * 5_000 + "|\n" + "|y|\n" * 2_500,
    "short lines": "a\n" * 7_500,
    "code lines": "```\n" + "x\n" * 7_500,
    "combining marks": "\u0301" * 15_000,
}


@pytest.mark.parametrize("markup", [Markup.MRKDWN, Markup.DISCORD, Markup.PLAIN])
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_length_alone(markup: Markup, source: str) -> None:
    began = time.process_time()
    parts = render(markup, source, TextLimit(2000))

    assert all(len(part.text) <= 2000 for part in parts)
    assert time.process_time() - began < 10  # up to 0.5 s here; quadratic would be half a minute


@pytest.mark.parametrize("markup", [markup for markup in Markup if markup is not Markup.EMAIL])
def test_a_long_text_is_sent_as_it_is_written_within_the_limit(markup: Markup) -> None:
    text = "".join(
        f"Line {number} *of* <many> &\u6f22\U0001f600.\n\n> `[x]` {'_' * 40}\n" for number in range(1000)
    )
    for limit in (TextLimit(400), TextLimit(4000, Unit.UTF16), TextLimit(4000, Unit.BYTES)):
        messages = render(markup, text, limit)

        assert "".join("".join(message.plain for message in messages).split()) == "".join(text.split())
        for message in messages:
            source_limit = limit if markup not in TELEGRAM else TextLimit(30_000, Unit.BYTES)
            assert measure(message.text, source_limit.unit) <= source_limit.size
            assert measure(message.plain, limit.unit) <= limit.size


def test_a_long_text_is_cut_between_paragraphs_and_never_inside_a_character() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 30 for number in range(400)]
    messages = render(Markup.MRKDWN, "\n\n".join(paragraphs), TextLimit(1000))
    assert all(message.plain.startswith("Paragraph ") for message in messages)

    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    for message in render(Markup.MRKDWN, family * 10_000, TextLimit(1000)):
        assert message.plain == family * (len(message.plain) // len(family))


def test_a_text_of_too_many_marks_is_sent_as_it_is_written() -> None:
    (message,) = render(Markup.PLAIN, "**a** " * 2000, TextLimit(20_000))

    assert message.text == ("**a** " * 2000).rstrip()
