"""Work on texts from outside grows with their length alone, whatever they hold.

What grows with the square of the length freezes a process long before a text is as long as a limit allows. Compared
are the CPU times for two lengths, so that the pace of the machine plays no part. The garbage collector waits
meanwhile: its work depends on all objects of the process, not on the text.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from adapters.inbound.console.filters import lines, visible
from adapters.inbound.console.markdown import Markdown
from adapters.inbound.rest.multipart import decoded_name, extended_name
from adapters.outbound.channels.bot_messenger.content import Bot, addressed
from adapters.outbound.channels.common.bodies import clean, form
from adapters.outbound.channels.community_chat.webhook import mention_of
from adapters.outbound.channels.enterprise_chat.activities import content_of, mentions_bot
from adapters.outbound.channels.enterprise_chat.quoting import read_html
from adapters.outbound.channels.gaming_chat.messages import plain as discord_text
from adapters.outbound.channels.http_webhook.webhook import at_path
from adapters.outbound.channels.sms_provider.keywords import opt_out_type
from adapters.outbound.channels.workspace_chat.events import plain_command, without_mention
from adapters.outbound.downstream.chat_wire import EventStream
from adapters.outbound.downstream.server_events import ServerEvents
from adapters.outbound.http.redaction import safe_url
from adapters.outbound.mail.authentication import authenticated_sender
from adapters.outbound.mail.charsets import charset_of_html
from adapters.outbound.mail.headers import Headers
from adapters.outbound.mail.html_text import html_to_text
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.quotes import split_answer, without_signature
from adapters.outbound.mail.subjects import is_forwarded, reply_subject
from adapters.outbound.rendering import GrowingText, Markup, markdown_nodes, render
from adapters.outbound.rendering.cards import literal_body
from adapters.outbound.rendering.splitting import split
from apps.printable import escaped
from domain.channels.answers import Answer, Choice
from domain.channels.model import TextLimit, Unit
from domain.confirmations.rules import question, unclear
from domain.conversations.choices import numbered, typed_choice
from domain.file_names import file_name
from domain.json_text import is_too_deep
from domain.knowledge.answers.citations import NumberedPassage, Passages, best_quote, without_marks
from domain.knowledge.answers.marks import data_text
from domain.knowledge.highlights import highlights
from domain.knowledge.index_words import index_words
from domain.knowledge.text_match import Query
from domain.knowledge.titles import meant_title
from domain.knowledge.words import mostly_outside_latin, words
from domain.web_chat.model import plain_nodes

SHORT, LONG = 10_000, 80_000
MOST_GROWTH = 24
"""Times the CPU time of the short text that the long one may take: 8 is the growth of its length, 64 its square."""
NOISE = 0.01
"""Seconds of CPU time below which times are not compared."""
LIMIT = TextLimit(4000, Unit.UTF16)

SHAPES = {
    "marks": "word [1] ",
    "brackets": "[",
    "pictures": "![",
    "blanks": " ",
    "line ends": "\n",
    "one word": "a",
    "backticks": "`",
    "tags": "<a <at>",
    "quotations": "> a\n",
    "emphasis": "**a _b ",
    "codes": "A1-",
    "addresses": "On 1 a <a@b.example> https://x.example/( wrote:\n",
    "sources": "Sources:\n[1] a.pdf, ",
    "table": "|a|b|\n|-|-|\n",
    "accents": "e\u0301\u6f22",
}


def cited(text: str) -> object:
    passages = Passages()
    passages.restore(NumberedPassage(1, 1, "c", "f.pdf", None, "", "A word. Another word."))
    return passages.cited_by(text)


def mail(kind: str) -> Callable[[str], object]:
    head = f"From: a@b.example\r\nIn-Reply-To: <a@b>\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n".encode()
    return lambda text: read_mail(head + text.encode())


def headers(text: str) -> object:
    field = " ".join(text.split("\n"))
    names = ("From", "To", "Subject", "References", "Authentication-Results")
    head = Headers([(name, f"b.example; {field}") for name in names])
    return (
        head.summary(),
        head.addresses("From"),
        head.message_ids("References"),
        authenticated_sender(head, ["b.example"]),
    )


def streamed(text: str) -> object:
    events, model, data = ServerEvents(10**8), EventStream(), text.encode()
    pieces = [data[start : start + 1000] for start in range(0, len(data), 1000)]
    return [(events.feed(piece), list(model.feed(piece))) for piece in pieces]


def growing(text: str) -> object:
    preview = GrowingText(Markup.MRKDWN, LIMIT)
    return [preview.rendered(text[: 1_250 * part]) for part in range(1, 5)]


def teams(text: str) -> object:
    html = [{"contentType": "text/html", "content": text}]
    names = {"recipient": {"id": "b", "name": "Bot"}, "text": text, "attachments": html}
    return content_of(names, read_html(names)), mentions_bot(names)


def choices(text: str) -> object:
    offered = [Choice(text, "b")]
    return typed_choice(offered, text), numbered(Answer(text, (), tuple(offered)))


WORK: dict[str, Callable[[str], object]] = {
    "citations of an answer": cited,
    "marks taken out": without_marks,
    "passage for a model": data_text,
    "quote from a passage": lambda text: best_quote(text, "a word"),
    "quote for a statement": lambda text: best_quote("A word. Another word.", text),
    "words": words,
    "words of an index": index_words,
    "query": Query.of,
    "script of a query": mostly_outside_latin,
    "highlights": lambda text: highlights(text, frozenset({"word", "a1a1"})),
    "title": meant_title,
    "answer by mail": split_answer,
    "mail without its signature": without_signature,
    "HTML of a mail": html_to_text,
    "mail": mail("plain"),
    "mail in HTML": mail("html"),
    "headers of a mail": headers,
    "charset of HTML": lambda text: charset_of_html(text.encode()),
    "subject": lambda text: (is_forwarded(text), reply_subject(text)),
    "Slack": lambda text: (plain_command(text), without_mention(f"<@U1{text}", "U1")),
    "Teams": teams,
    "Discord": lambda text: discord_text(text, {}, ()),
    "Telegram": lambda text: (addressed(text, Bot("1", "a_bot")), addressed(f"@{text}", Bot("1", ""))),
    "Mattermost": lambda text: mention_of("bot").sub("", text),
    "keyword of a text message": lambda text: opt_out_type({"Body": text}),
    "field of a webhook": lambda text: at_path({"a": [text]}, f"a.{text}"),
    "form": lambda text: form(text.encode()),
    "text without NUL": clean,
    "JSON": lambda text: is_too_deep(text.encode()),
    "stream of events": streamed,
    "name of a file": lambda text: (
        file_name(text),
        decoded_name(text.encode()),
        extended_name(text.encode()),
    ),
    "question about a tool": lambda text: (question(text, {text: [text]}), unclear(text)),
    "choices": lambda text: (
        typed_choice([Choice("a", "b")], text),
        numbered(Answer(text, (), (Choice(text, "b"),))),
    ),
    "log line": lambda text: (escaped(text), safe_url(f"http://x.example/{text}")),
    "page of the console": lambda text: (lines(text), visible(text)),
    "text as it was typed": lambda text: (plain_nodes(text), literal_body(text[:20_000])),
    "messages of a platform": lambda text: split(text, LIMIT),
    "unfinished answer": growing,
}


def seconds(work: Callable[[str], object], text: str) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work(text)
        return time.process_time() - start
    finally:
        gc.enable()


def slow_growth(name: str, work: Callable[[str], object], short: int, long: int) -> list[str]:
    """The shapes of text for which the time grows faster than the length."""
    work("A first *text* [1].")  # imports and compiles
    slow = []
    for shape, piece in SHAPES.items():
        short_text, long_text = piece * (short // len(piece)), piece * (long // len(piece))
        for _ in range(3):  # a processor that does other work meanwhile spoils one measurement, seldom three
            before, after = seconds(work, short_text), seconds(work, long_text)
            if after <= MOST_GROWTH * max(before, NOISE):
                break
        else:
            slow.append(f"{shape}: {before:.3f} s, then {after:.3f} s")
        assert before < 100 * NOISE, f"{name}: {before:.1f} s for {short} characters of {shape}"
    return slow


@pytest.mark.parametrize("name", WORK)
def test_work_on_a_text_grows_with_its_length_alone(name: str) -> None:
    assert slow_growth(name, WORK[name], SHORT, LONG) == []


@pytest.mark.parametrize("markup", [*Markup, "web chat"])
def test_rendering_grows_with_the_length_alone(markup: Markup | str) -> None:
    def work(text: str) -> object:
        return render(markup, text, LIMIT) if isinstance(markup, Markup) else markdown_nodes(text)

    assert slow_growth(str(markup), work, 1_500, 12_000) == []


def test_markdown_of_the_console_grows_with_the_length_alone() -> None:
    assert slow_growth("console", lambda text: Markdown(text).__html__(), 1_500, 12_000) == []


@pytest.mark.parametrize("markup", [Markup.EMAIL, Markup.PLAIN])
def test_a_text_of_a_million_characters_is_sent_as_it_is_written(markup: Markup) -> None:
    text = "**a** [1] <b>\n" * (1_000_000 // 14)
    messages = render(markup, text, None if markup is Markup.EMAIL else LIMIT)
    assert "".join(message.plain for message in messages).count("**a** [1] <b>") == text.count(
        "**a** [1] <b>"
    )
