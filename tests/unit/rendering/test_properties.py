"""What holds of every rendering: nothing is lost, no part is too long, each part is well formed on its own."""

import re

from hypothesis import given, note
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup, Rendered, render
from adapters.outbound.rendering.cutting import measure
from domain.channels.model import TextLimit, Unit
from tests.support import markups

APART = (Markup.CARD, Markup.EMAIL)
"""They have tests of their own: neither can be as short as a text."""
READERS = {markup: read for markup, read in markups.READERS.items() if markup not in APART}
READ_MARKDOWN = (Markup.DISCORD, Markup.MATTERMOST, Markup.TEAMS)
TELEGRAM = (Markup.TELEGRAM_HTML, Markup.TELEGRAM_MARKDOWNV2, Markup.TELEGRAM_MARKDOWN)
UNITS = {markup: Unit.UTF16 if markup in TELEGRAM else Unit.CHARACTERS for markup in READERS}

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SOUP = st.sampled_from(
    [
        *"*_~`<>&[]()#|\\!@:-+=.{}$\"' \n",
        "**",
        "~~",
        "```",
        "<!channel>",
        "<@U1>",
        "&lt;",
        "word",
        "a_b",
        "\n\n",
        "https://a.b/c_d_e?f=1&g=* ",
        "](http://x.y)",
        "> ",
        "- ",
        "1. ",
        "# ",
        "|-|-|\n",
        FAMILY,
        "中文",
        "\u200b",
    ]
)
WITHOUT_ADDRESSES = SOUP.filter(lambda each: "|" not in each and "](" not in each and "://" not in each)


class Writer:
    """Writes Markdown in which each word is numbered, so that order and loss can be seen."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.words = 0

    def word(self) -> str:
        self.words += 1
        return f"w{self.words}q"

    def phrase(self, most: int = 6) -> str:
        return " ".join(self.word() for _ in range(self.draw(st.integers(1, most))))

    def inline(self, styles: tuple[str, ...] = ("**{}**", "*{}*", "~~{}~~")) -> str:
        others = ("{}", "{}", "`{}`", "[{}](https://ex.am/p?a=1&b=_2_)", "![{}](https://i.mg/x)")
        pieces = []
        for _ in range(self.draw(st.integers(1, 3))):
            kind = self.draw(st.sampled_from(others + styles))
            rest = tuple(style for style in styles if style != kind)
            nested = kind in styles and rest and self.draw(st.booleans())
            pieces.append(kind.format(self.inline(rest) if nested else self.phrase()))
        return self.draw(st.sampled_from([" ", " ", "\n", " & ", " " + FAMILY + " "])).join(pieces)

    def blocks(self, depth: int = 0) -> str:
        return "\n\n".join(self.block(depth) for _ in range(self.draw(st.integers(1, 3))))

    def block(self, depth: int) -> str:
        kinds = ["paragraph", "paragraph", "heading", "code", "table"] + ["quote", "list"] * (depth < 3)
        match self.draw(st.sampled_from(kinds)):
            case "heading":
                return "#" * self.draw(st.integers(1, 6)) + " " + self.inline().replace("\n", " ")
            case "code":
                lines = "\n".join("    " + self.phrase(9) for _ in range(self.draw(st.integers(1, 9))))
                return f"```py\n{lines}\n```"
            case "table":
                return self.table()
            case "quote":
                return re.sub("^", "> ", self.blocks(depth + 1), flags=re.MULTILINE)
            case "list":
                items = [self.blocks(depth + 1) for _ in range(self.draw(st.integers(1, 3)))]
                return "\n".join("- " + re.sub("\n", "\n  ", item) for item in items)
            case _:
                return self.inline()

    def table(self) -> str:
        rows = [f"| {self.word()} | **{self.word()}** |" for _ in range(self.draw(st.integers(1, 6)))]
        return "\n".join(["| name | `value` |", "|:--|--:|", *rows])


@st.composite
def written(draw: st.DrawFn) -> tuple[str, int]:
    writer = Writer(draw)
    source = writer.blocks()
    return source, writer.words


def numbered(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"w(\d+)q", text)]


def limit_of(markup: Markup, size: int) -> TextLimit:
    return TextLimit(size, UNITS[markup])


def check_lengths(markup: Markup, parts: list[Rendered], limit: TextLimit) -> None:
    for part in parts:
        assert part.plain.strip()
        assert measure(part.plain, limit.unit) <= limit.size
        seen = READERS[markup](part.text) if markup in TELEGRAM else part.text
        assert measure(seen, limit.unit) <= limit.size


@given(document=written(), size=st.integers(300, 500))
def test_every_word_is_there_in_order(document: tuple[str, int], size: int) -> None:
    for markup in READERS:
        note(f"in {markup}")
        source, words = document
        limit = limit_of(markup, size)
        parts = render(markup, source, limit)

        check_lengths(markup, parts, limit)
        expected = list(range(1, words + 1))
        assert [number for part in parts for number in numbered(READERS[markup](part.text))] == expected
        assert [number for part in parts for number in numbered(part.plain)] == expected
        assert sum(part.text.count(FAMILY) for part in parts) == source.count(FAMILY)


@given(source=st.lists(SOUP, max_size=150).map("".join) | st.text(max_size=900), size=st.integers(300, 400))
def test_hostile_text_is_well_formed(source: str, size: int) -> None:
    for markup in READERS:
        note(f"in {markup}")
        limit = limit_of(markup, size)
        parts = render(markup, source, limit)

        check_lengths(markup, parts, limit)
        assert bool(parts) == bool(source.strip())
        for part in parts:
            READERS[markup](part.text)


def letters(text: str) -> str:
    """What of a text is surely not markup that the two sides write differently (quotes, lists, rules)."""
    return re.sub(r"[^\w*~\[\]<&\\!@{}$\"']|[\d_]", "", text)


@given(source=st.lists(WITHOUT_ADDRESSES, max_size=40).map("".join))
def test_escaped_markdown_reads_as_the_plain_text(source: str) -> None:
    for markup in READ_MARKDOWN:
        note(f"in {markup}")
        for part in render(markup, source, None):
            assert letters(READERS[markup](part.text)) == letters(part.plain.replace("\u200b", ""))


@given(source=st.lists(SOUP.filter(lambda each: "](" not in each), max_size=40).map("".join))
def test_telegram_shows_the_plain_text(source: str) -> None:
    for markup in TELEGRAM:
        note(f"in {markup}")
        for part in render(markup, source, None):
            seen = READERS[markup](part.text)
            assert re.sub(r"[\s>\u200b]", "", seen) == re.sub(r"[\s>\u200b]", "", part.plain)


@given(source=st.lists(SOUP, min_size=5, max_size=40).map("".join), size=st.integers(16, 60))
def test_the_smallest_limits_are_kept(source: str, size: int) -> None:
    for markup in READERS:
        note(f"in {markup}")
        parts = render(markup, source, TextLimit(size))

        assert all(len(part.plain) <= size for part in parts)
        if markup not in TELEGRAM:
            assert all(len(part.text) <= size for part in parts)


@given(source=st.lists(SOUP, max_size=60).map("".join) | written().map(lambda document: document[0]))
def test_mail_is_harmless(source: str) -> None:
    for part in render(Markup.EMAIL, source, None):
        markups.mail(part.text)


@given(document=written())
def test_mail_holds_every_word_twice(document: tuple[str, int]) -> None:
    source, words = document
    (part,) = render(Markup.EMAIL, source, None)

    assert numbered(markups.mail(part.text)) == list(range(1, words + 1))
    assert numbered(part.plain) == list(range(1, words + 1))
