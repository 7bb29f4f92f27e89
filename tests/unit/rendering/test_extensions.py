"""What models write beyond CommonMark is shown in every markup, and what is no markup is not lost in any."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup, render
from domain.channels.model import TextLimit
from tests.support import markups
from tests.unit.rendering.test_properties import numbered

EVERY = markups.READERS
in_every_markup = pytest.mark.parametrize("markup", list(EVERY))


def shown(markup: Markup, source: str) -> str:
    """What a person sees, without the spaces that markups differ in."""
    (message,) = render(markup, source, None)
    seen = EVERY[markup](message.text).replace("\u200b", "")
    return re.sub(r" *\n+ *", "\n", seen).strip()


def bare(markup: Markup, source: str) -> str:
    """What a person sees, also where the reader of a markup leaves the marks of emphasis in the text."""
    seen = shown(markup, source)
    return re.sub("[*_~`]+", "", seen) if markup in (Markup.MRKDWN, Markup.WHATSAPP) else seen


def plain(source: str) -> str:
    (message,) = render(Markup.PLAIN, source, None)
    return message.text


@pytest.mark.parametrize("tag", ["<br>", "<br/>", "<BR />", "<br>\n", "</br>"])
def test_a_break_ends_the_line(subtests: pytest.Subtests, tag: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, f"one{tag}two") == "one\ntwo"


@pytest.mark.parametrize(
    "formula",
    [
        r"\(a_b\)",
        r"\(x\)",
        r"\(a_b * c_d * e\)",
        r"\(\frac{a}{b}\)",
        r"\[a_b^2 = \sqrt{c}\]",
        "\\[\na_b\n\\]",
        r"\(`a`\)",
    ],
)
def test_a_formula_stays_as_it_was_written(subtests: pytest.Subtests, formula: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, formula) == formula
            displayed = formula.startswith("\\[")
            around = ("See\n", "\nthere.") if displayed else ("See ", " there.")
            assert shown(markup, formula.join(around)) == formula.join(around)


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        (r"\(no end", "(no end"),
        (r"note \[1\] here", "note [1] here"),
        (r"\(\)", "()"),
        (r"\*a\*", "*a*"),
        (r"\\(a\\)", r"\(a\)"),
    ],
)
def test_what_is_no_formula_is_an_escape(subtests: pytest.Subtests, source: str, seen: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, source) == seen


def test_a_break_in_a_table_is_not_shown(subtests: pytest.Subtests) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            seen = shown(markup, "| a | b |\n|---|---|\n| one<br>two | three |")
            assert "br" not in seen
            assert all(word in seen for word in ("one", "two", "three"))


def test_a_break_stays_within_the_row_of_a_table() -> None:
    (message,) = render(Markup.MATTERMOST, "| a | b |\n|---|---|\n| one<br>two | three |", None)
    assert message.text.split("\n")[-1] == "| one two | three |"


def test_tasks_have_boxes(subtests: pytest.Subtests) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            seen = shown(
                markup,
                "- [ ] open\n- [x] done\n- [X] also\n- [link](https://a.b)\n- [y] no task\n\n1. [ ] third",
            )
            assert [
                seen.count(each) for each in ("☐ open", "☑ done", "☑ also", "☐ third", "[y] no task", "[ ]")
            ] == [1] * 5 + [0]


def test_footnotes_are_marked_in_brackets(subtests: pytest.Subtests) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            seen = bare(
                markup, "One[^1] and two[^why].\n\n[^1]: The *first*\n    goes on.\n[^why]: The second."
            )
            assert "One[1] and two[why]." in seen
            assert "[1] The first" in seen
            assert "goes on" in seen
            assert "[why] The second." in seen


@pytest.mark.parametrize("source", ["[^a-z]+ and [^0-9]", "a[^1] without a note", r"\[^1\]", "^[no note]"])
def test_a_mark_without_a_note_is_text(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, source) == source.replace("\\", "")


TAGS = [
    ("<b>a</b> <i>b</i> <strong>c</strong> <em>d</em> <s>e</s> <del>f</del>", "a b c d e f"),
    ("<u>a</u> <mark>b</mark> <small>c</small> <span style='x: y'>d</span>", "a b c d"),
    ("<kbd>Ctrl</kbd>+<code>C</code>", "Ctrl+C"),
    (
        "H<sub>2</sub>O, x<sup>2</sup>, e<sup>i</sup>, 1<sup>st</sup>, 2<sup>10x</sup>",
        "H₂O, x², eⁱ, 1st, 2^(10x)",
    ),
    ("<details><summary>More</summary>text</details>", "More\ntext"),
    ("<details>\n<summary>More</summary>\n\ntext\n\n</details>", "More\ntext"),
    ("<p align='center'>one</p><div>two</div>", "one\ntwo"),
    ("<ul>\n  <li>one</li>\n  <li><b>two</b></li>\n</ul>", "• one\n• two"),
    ("<h2>Title</h2>text<hr>more", "Title\ntext\n———\nmore"),
    ("a <!-- hidden --> b", "a  b"),
    ("a&nbsp;b &copy; &lt;", "a\u00a0b © <"),
]


@pytest.mark.parametrize(("source", "text"), TAGS)
def test_tags_that_models_write_are_not_shown(subtests: pytest.Subtests, source: str, text: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert re.sub(r"\s+", " ", bare(markup, source)) == re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    "source",
    [
        "a <b> c",
        "a </b> c",
        "use <details> here",
        "<foo>x</foo>",
        "<script>x</script>",
        "<b><i>x</b",
        "1 <a and b> 2",
    ],
)
def test_other_tags_are_text(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, source) == source


def test_tags_are_what_markdown_has_for_them() -> None:
    source = '<b>a</b> <a href="https://a.b/c">d</a> <img src="https://a.b/p.png" alt="e"> <code>*f*</code>'
    assert (
        render(Markup.DISCORD, source, None)[0].text
        == "**a** [d](https://a.b/c) [e](https://a.b/p.png) `*f*`"
    )
    assert '<a href="https://a.b/c">d</a>' in render(Markup.EMAIL, source, None)[0].text


@pytest.mark.parametrize(
    "source", ["#```<code>x</code>", "<code>x</code>```y", "\\`<kbd>x</kbd>", "<code>x</code><code>y</code>"]
)
def test_code_beside_backticks_opens_no_fence(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert re.sub("[\\s`]", "", shown(markup, source)) == re.sub(r"</?\w+>|[`\\]", "", source)


def test_two_keys_side_by_side_are_not_one_code() -> None:
    assert render(Markup.DISCORD, "<kbd>x</kbd><kbd>y</kbd>", None)[0].text == "`x`y"


def test_a_link_to_a_script_is_no_link() -> None:
    (message,) = render(
        Markup.EMAIL, '<a href="javascript:alert(1)">x</a> <img src="data:text/html,x">', None
    )
    assert "href" not in message.text


@pytest.mark.parametrize("source", ["`<br>` and `[^1]` and `- [ ]`", "```\n<br> <b>x</b> [^1]\n- [ ] y\n```"])
def test_code_is_shown_as_it_stands(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert re.sub(r"\s", "", bare(markup, source)) == re.sub(r"[\s`]", "", source)


@pytest.mark.parametrize(
    "source",
    [
        *(
            "2*3*4 = 24",
            "2**3**4",
            "5*x*y",
            "a_b_c",
            "foo**bar**baz",
            "x = 2 *3*4",
            "n~~1~~2",
            "snake_case_name",
        ),
        *("a*b*c and d*e*f", "1*2**3*4", "__init__x", "é*è*ê"),
        *("see pkg/__init__.py", 'if __name__ == "__main__":', "x.__getitem__(1)", "__pycache__"),
    ],
)
def test_delimiters_in_a_word_are_shown_as_written(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert shown(markup, source) == source
            assert plain(source) == source


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**API**s", "APIs"),
        ("这是**重点**内容", "这是重点内容"),
        ("ไทย**หนา**ไทย", "ไทยหนาไทย"),
        ("*a* b", "a b"),
    ],
)
def test_emphasis_of_words_is_emphasis(subtests: pytest.Subtests, source: str, text: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert bare(markup, source) == text
            assert plain(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("日本語の**「強調」**です", "「強調」"),
        ("これは**重要。**です", "重要。"),
        ("**“重点”**内容", "“重点”"),
        ("**注意!**请", "注意!"),
        ("한국어 **(강조)**는", "(강조)"),
        ("ไทย**(หนา)**ไทย", "(หนา)"),
    ],
)
def test_emphasis_ends_at_punctuation_beside_scripts_without_spaces(source: str, text: str) -> None:
    (message,) = render(Markup.TELEGRAM_HTML, source, None)
    assert f"<b>{text}</b>" in message.text
    assert plain(source) == source.replace("**", "")


@pytest.mark.parametrize("source", ["価格は2 * 3です", "数** 値 **は", "*「注」"])
def test_lone_delimiters_beside_scripts_without_spaces_are_text(source: str) -> None:
    assert plain(source) == source


def test_two_underscores_around_other_words_are_bold(subtests: pytest.Subtests) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            assert bare(markup, "__bold__ text") == "bold text"


WORD = st.text(alphabet="abcXYZ0189éß", min_size=1, max_size=4)
RUN = st.sampled_from(["*", "**", "***", "_", "__", "~", "~~", "*_", "'", "-", ".", "/"])


@in_every_markup
@given(pieces=st.lists(st.tuples(WORD, RUN), min_size=1, max_size=8), last=WORD)
def test_a_word_with_any_delimiters_in_it_loses_nothing(
    markup: Markup, pieces: list[tuple[str, str]], last: str
) -> None:
    source = "".join(word + run for word, run in pieces) + last
    if re.match(r"\d+\.", source):
        return
    assert shown(markup, source) == source


PUNCTUATION = st.sampled_from(
    [*"*_~>#+-=|{}.!$'():^ \n", "**", "~~", "[", "]:", "]", "[^", "\n\n", "|-|\n", "- [ ] ", "  "]
)


@st.composite
def numbered_text(draw: st.DrawFn) -> tuple[str, int]:
    pieces, words = [], 0
    for between in draw(st.lists(PUNCTUATION, max_size=40)):
        pieces.append(between)
        if draw(st.booleans()):
            words += 1
            pieces.append(f"w{words}q")
    return "".join(pieces), words


@in_every_markup
@given(document=numbered_text())
def test_no_word_is_lost_whatever_stands_between(markup: Markup, document: tuple[str, int]) -> None:
    source, words = document
    source = re.sub(
        "~{3,}", "~~", source
    )  # what is a fence may bear a language, which not every markup shows
    parts = render(markup, source, None)
    seen = [number for part in parts for number in numbered(EVERY[markup](part.text))]
    assert sorted(set(seen)) == list(range(1, words + 1))
    assert {number for part in parts for number in numbered(part.plain)} == set(range(1, words + 1))


@pytest.mark.parametrize(
    "source",
    [
        "[Anna]: hello\n\nfoo",
        "> [Anna]: hello\n\nfoo",
        "[a]: https://a.b\n[a]: https://c.d\n\nsee [a] hello foo",
        "| a | b |\n|---|---|\n| 1 | 2 | hello | foo |",
        "".join(f"{'  ' * depth}- item{depth}\n" for depth in range(40)) + "\nhello foo",
        ">" * 60 + " hello foo",
        "- " * 60 + "hello foo",
        "[^a]: " * 60 + "hello foo",
        "~~~ hello foo\ncode\n~~~",
        "``` hello, foo",
    ],
)
def test_what_a_parser_drops_is_shown(subtests: pytest.Subtests, source: str) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            seen = shown(markup, source)
            assert all(word in seen for word in ("hello", "foo", *re.findall(r"item\d+", source)))


def test_items_keep_their_numbers_where_they_grow(subtests: pytest.Subtests) -> None:
    for markup in EVERY:
        with subtests.test(markup=markup):
            source = "1. a\n1. b\n5. c\n3. d\n\n   7. e\n   9. f"
            if markup is Markup.EMAIL:
                assert [
                    line[:14] for line in render(markup, source, None)[0].text.split("\n") if "value" in line
                ] == [
                    '<li value="5">',
                    '<li value="9">',
                ]
            for text in (plain(source), render(markup, source, None)[0].plain):
                assert re.findall(r"\d+\. \w", text) == ["1. a", "2. b", "5. c", "6. d", "7. e", "9. f"]


HOSTILE = {
    "open tags": "<b>" * 7_500,
    "closing tags": "</b>" * 6_000,
    "open and other closing tags": "<b>" * 4_000 + "</i>" * 4_000,
    "nested emphasis": "*a **b " * 1_500 + "x" + "***" * 1_500,
    "many stars": "*" * 10_000 + "x" + "*" * 10_000,
    "nested pictures": "![" * 4_000 + "x" + "](y)" * 4_000,
    "nested pairs": "<b>" * 4_000 + "x" + "</b>" * 4_000,
    "code in code": "<code>" * 2_000 + "x" + "</code>" * 2_000,
    "breaks": "<br>" * 6_000,
    "notes": "[^1]: x\n" * 3_000,
    "nested notes": "[^1]: " * 4_000,
    "marks": "[^1]: x\n\n" + "[^1]" * 6_000,
    "definitions": "[a]: b\n" * 3_500,
    "tasks": "- [ ] x\n" * 3_000,
    "stars in words": "a*" * 12_500,
    "double stars in words": "a**" * 8_000,
    "further cells": "|a|\n|-|\n" + "|x|y|z|\n" * 3_000,
    "comments": "<!--" * 6_000,
    "formulas without an end": r"\(\[" * 5_000,
}


@pytest.mark.parametrize("markup", [Markup.MRKDWN, Markup.DISCORD, Markup.PLAIN, Markup.EMAIL])
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_length_alone(markup: Markup, source: str) -> None:
    began = time.process_time()
    assert render(markup, source, TextLimit(2000))
    assert time.process_time() - began < 10  # up to 0.7 s here; quadratic would be half a minute
