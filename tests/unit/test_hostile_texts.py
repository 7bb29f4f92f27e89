"""Work on a million characters from outside takes a second at most, whatever they hold; a test fails at three.

What grows with the square of the length would take minutes or hours. A second is one of the machine on which this was
measured: the CPU time is compared with that of a loop of fixed length just before, so that the pace of the machine
plays no part. Other work on the same core makes work on a long text slower than such a loop, up to twice as slow:
therefore the tests allow three times the second. The garbage collector waits meanwhile: its work depends on all
objects of the process, not on the text.
"""

import gc
import json
import time
from collections.abc import Callable, Iterator

import pytest

from adapters.inbound.console.filters import lines, visible
from adapters.inbound.console.markdown import Markdown
from adapters.inbound.rest.multipart import decoded_name, extended_name
from adapters.outbound.channels.bot_messenger.messages import Bot, addressed
from adapters.outbound.channels.common.bodies import clean, form, json_value
from adapters.outbound.channels.community_chat.webhook import mention_of
from adapters.outbound.channels.enterprise_chat.quoting import read_html
from adapters.outbound.channels.enterprise_chat.webhook import content_of, mentions_bot
from adapters.outbound.channels.gaming_chat.messages import plain as discord_text
from adapters.outbound.channels.http_webhook.webhook import at_path
from adapters.outbound.channels.sms_provider.webhook import opt_out_type
from adapters.outbound.channels.workspace_chat.events import plain_command, without_mention
from adapters.outbound.mail.charsets import charset_of_html
from adapters.outbound.mail.guards import authenticated_sender
from adapters.outbound.mail.headers import Headers, is_forwarded, reply_subject
from adapters.outbound.mail.html_text import html_to_text
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.quotes import split_answer, without_signature
from adapters.outbound.net.urls import safe_url
from adapters.outbound.rendering import GrowingText, Markup, markdown_nodes, render
from adapters.outbound.rendering.cards import literal_body
from adapters.outbound.resources import chat_completions, responses
from adapters.outbound.resources.answers import ServerEvents
from adapters.outbound.resources.chat_model import EventStream
from apps.logs import escaped
from domain import limits
from domain.channels.answers import Answer, Choice
from domain.channels.model import TextLimit, Unit
from domain.confirmations.model import question, unclear
from domain.conversations.choices import numbered, typed_choice
from domain.file_names import file_name
from domain.json_text import has_too_many, loads
from domain.knowledge.citations import NumberedPassage, Passages, best_quote, without_marks
from domain.knowledge.index_words import highlights, index_words
from domain.knowledge.marks import data_text
from domain.knowledge.text_match import Query
from domain.knowledge.titles import meant_title
from domain.knowledge.words import mostly_outside_latin, words
from domain.rendering import MOST_MARKS
from domain.web_chat.model import plain_nodes

SIZE = 1_000_000
"""Characters."""
STEPS = 1_000_000
SECOND = 66
"""Times the CPU time of a loop of so many steps: a second on a machine that takes 15 milliseconds for the loop."""
MOST = 3.0
"""Seconds that a test allows."""
LIMIT = TextLimit(4000, Unit.UTF16)
MAX_CHUNK = 100_000
"""Characters of the text of a chunk."""
LIMITS = {
    "highlights": MAX_CHUNK,
    "quote from a passage": MAX_CHUNK,
    "passage for a model": MAX_CHUNK,
    "words of an index": MAX_CHUNK,
}
"""Of work on texts that are shorter than a million characters wherever they come from."""

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
    events, data = ServerEvents(10**8), text.encode()
    models = [EventStream(chat_completions.PROTOCOL), EventStream(responses.PROTOCOL)]
    pieces = [data[start : start + 1000] for start in range(0, len(data), 1000)]
    return [(events.feed(piece), [list(model.feed(piece)) for model in models]) for piece in pieces]


def growing(text: str) -> object:
    preview = GrowingText(Markup.MRKDWN, LIMIT)
    return [preview.rendered(text[: 1_250 * part]) for part in range(1, 5)]


def teams(text: str) -> object:
    html = [{"contentType": "text/html", "content": text}]
    names = {"recipient": {"id": "b", "name": "Bot"}, "text": text, "attachments": html}
    return content_of(names, read_html(names)), mentions_bot(names)


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
    "JSON": lambda text: (has_too_many(text.encode()), loads(json.dumps([text, {text: text}]))),
    "JSON of a platform": lambda text: json_value(json.dumps([text]).encode()),
    "stream of events": streamed,
    "name of a file": lambda text: (
        file_name(text),
        decoded_name(text.encode()),
        extended_name(text.encode()),
    ),
    "question about a tool": lambda text: (question(text, {text: [text]}), unclear(text)),
    "choices": lambda text: (
        typed_choice([Choice("a", "b")], text),
        numbered(Answer(text, (), (Choice(text[: limits.CHOICE_LABEL], "b"),))),
    ),
    "log line": lambda text: (escaped(text), safe_url(f"http://x.example/{text}")),
    "page of the console": lambda text: (lines(text), visible(text)),
    "text as it was typed": lambda text: (plain_nodes(text), literal_body(text[:20_000])),
    "unfinished answer": growing,
}


RENDERING: dict[str, Callable[[str], object]] = {
    **{str(markup): lambda text, markup=markup: render(markup, text, LIMIT) for markup in Markup},  # type: ignore[misc]
    "web chat": markdown_nodes,
    "console": lambda text: Markdown(text).__html__(),
}


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start


def loop(_: str) -> None:
    for _step in range(STEPS):
        pass


def too_slow(work: Callable[[str], object], size: int) -> list[str]:
    """The shapes of text that take too long. A tenth comes first, so that a fault does not take hours."""
    work("A first *text* [1].")  # imports and compiles
    second = SECOND * seconds(loop, "")
    slow = []
    for shape, piece in SHAPES.items():
        for length, most in ((size // 10, MOST / 3), (size, MOST)):
            text = piece * (length // len(piece))
            taken = seconds(work, text) / second
            if taken > most:  # other work on the processor spoils one measurement, seldom two
                taken = seconds(work, text) / (SECOND * seconds(loop, ""))
            if taken > most:
                slow.append(f"{length} characters of {shape}: {taken:.2f} seconds")
                break
    return slow


@pytest.mark.parametrize("name", WORK)
def test_work_on_a_text_of_a_million_characters_grows_with_its_length(name: str) -> None:
    assert too_slow(WORK[name], LIMITS.get(name, SIZE)) == []


@pytest.mark.parametrize("size", [MOST_MARKS, SIZE])
@pytest.mark.parametrize("name", RENDERING)
def test_rendering_of_a_million_characters_grows_with_its_length(name: str, size: int) -> None:
    assert too_slow(RENDERING[name], size) == []


@pytest.mark.parametrize("markup", [Markup.EMAIL, Markup.PLAIN])
def test_a_text_of_a_million_characters_is_sent_as_it_is_written(markup: Markup) -> None:
    text = "**a** [1] <b>\n" * (1_000_000 // 14)
    messages = render(markup, text, None if markup is Markup.EMAIL else LIMIT)
    assert "".join(message.plain for message in messages).count("**a** [1] <b>") == text.count(
        "**a** [1] <b>"
    )
