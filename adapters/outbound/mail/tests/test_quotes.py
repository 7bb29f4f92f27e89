"""What the writer wrote, apart from what was quoted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.outbound.mail.html_text import html_to_text, split_html
from adapters.outbound.mail.quotes import split_answer
from domain.channels.messages import Quoted

FORWARDED = "---------- Forwarded message ---------\nFrom: X <x@y.example>\nDate: Fri\n\nYou have won"


def own_text(text: str) -> str:
    return split_answer(text)[0]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("yes\n\nOn Fri, 20 Nov 2026 at 12:00, Bot <b@x.example> wrote:\n> Shall I?\n> 1 Approve", "yes"),
        ("yes\n\nOn Fri, 20 Nov 2026 at 12:00, Bot\n<b@x.example> wrote:\n\n> Shall I?", "yes"),
        ("ja\n\nAm 20.11.2026 um 12:00 schrieb Bot:\n> Soll ich?", "ja"),
        ("oui\n\nLe ven. 20 nov. 2026 à 12:00, Bot <b@x.example> a écrit :\n> Vraiment ?", "oui"),
        ("yes\n\n-----Original Message-----\nFrom: Bot\nSent: Friday\nShall I?", "yes"),
        ("yes\n\n________________________________\nFrom: Bot\nSent: Friday\nTo: Ann\n\nShall I?", "yes"),
        ("yes\n\nVon: Bot\nGesendet: Freitag\nAn: Ann\nBetreff: Frage\n\nSoll ich?", "yes"),
        ("yes\n-- \nAnn Example\nHead of Things", "yes"),
        ("On Fri, 20 Nov 2026, Bot wrote:\n> Shall I?\n\nyes, do", "yes, do"),
        ("> Shall I?\n\nyes, do", "yes, do"),
        (
            "first\n> a question\nmy answer\n> another\nand this",
            "first\n> a question\nmy answer\n> another\nand this",
        ),
        ("On Monday I wrote: a letter", "On Monday I wrote: a letter"),
        ("From: the heart\nTo: you", "From: the heart\nTo: you"),
        ("> only a quotation", "> only a quotation"),
        ("a -- b\n--\nx", "a -- b"),
        ("yes\n\nSent from my iPhone\n\n> On 20 Nov 2026, at 12:00, Bot wrote:\n> Shall I?", "yes"),
        ("yes\n\nGet Outlook for iOS<https://aka.ms/o0ukef>", "yes"),
        ("ja\n\nVon meinem iPhone gesendet", "ja"),
        ("It was\nSent from my iPhone\nto yours", "It was\nSent from my iPhone\nto yours"),
        ("Sent from my iPhone", "Sent from my iPhone"),
        ("", ""),
        (
            f"what is this?\n-- \nAnn\n\n{FORWARDED}",
            f"what is this?\n\n{FORWARDED}",
        ),
        (
            "see\n\nBegin forwarded message:\n\n> From: X\n> Date: Fri\n>\n> You have won",
            "see\n\nBegin forwarded message:\n\n> From: X\n> Date: Fri\n>\n> You have won",
        ),
        (
            "no\n\nFrom: Ann\nSent: Friday\nTo: Bot\n\n---------- Forwarded message ---------\nFrom: X",
            "no",
        ),
        ("no\n\nOn Fri, Ann wrote:\n> ---------- Forwarded message ---------\n> From: X", "no"),
    ],
)
def test_the_text_of_an_answer_is_what_its_sender_wrote(text: str, own: str) -> None:
    assert own_text(text) == own
    assert own_text(text.replace("\n", "\r\n")) == own


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["> q", "On x, y wrote:", "text", "", "-- ", "From: a", "Sent: b", "_" * 30]),
        max_size=30,
    )
)
def test_something_is_left_of_whatever_says_something(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert bool(own_text(text)) == bool(text.strip())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>yes</p><div class='gmail_quote'>On … wrote:<blockquote>old</blockquote></div>", "yes"),
        ("<div>yes</div><blockquote type='cite'>old</blockquote>", "yes"),
        ("yes<div id='appendonsend'></div><hr><b>From:</b> Bot", "yes"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("a&nbsp;&lt;b&gt;&amp;&#8364;", "a <b>&€"),
        ("<a href='mailto:x@y.example'>x@y.example</a>", "x@y.example"),
        ("<a href='javascript:alert(1)'>go</a>", "go"),
        ("<blockquote>said by others</blockquote>", "said by others"),
        ("<b>un<i>closed", "unclosed"),
        ("</div></p>text", "text"),
        ("<style>x</style><p>a</p><!-- hidden --><title>t</title>", "a"),
    ],
)
def test_html_as_text(html: str, text: str) -> None:
    assert split_html(html)[0] == text


@pytest.mark.parametrize(
    "piece", ["<div>", "<a href=x>", "</b>", "<!--", "<![", "<a ", "&#", "<blockquote type=cite>"]
)
def test_hostile_html_takes_no_long_time(piece: str) -> None:
    html_to_text(piece * 20_000)


@given(st.text(alphabet="<>/abp=\"'& !-#x1;", max_size=300))
def test_any_html_is_read(html: str) -> None:
    assert isinstance(html_to_text(html), str)


def test_answers_between_quoted_lines_keep_what_they_answer() -> None:
    assert own_text("> one?\nyes\n> two?\nno\n> bye") == "> one?\nyes\n> two?\nno"
    assert own_text("> one?\n> two?\nyes, both") == "yes, both"


@pytest.mark.parametrize(
    "attribution",
    [
        "пн, 3 нояб. 2026, 10:00, Bot <bot@example.com>:",
        "2026年11月3日(月) 10:00 Bot <bot@example.com>:",
        "pon., 3 lis 2026 o 10:00 Bot <bot@example.com> napisał(a):",
    ],
)
def test_an_attribution_of_any_language_goes_with_its_quotation(attribution: str) -> None:
    assert own_text(f"new words\n\n{attribution}\n\n> old\n> words") == "new words"
    assert own_text(f"write to\n{attribution}\nthanks") == f"write to\n{attribution}\nthanks"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (
            "Yes\n\nOn Fri, Nov 20, 2026 at 9:00 AM Bob <bob@example.com> wrote:\n> It is hot.\n>\n> > Is it?\n",
            Quoted("It is hot.\n\n> Is it?", "bob@example.com"),
        ),
        (
            "Yes\n\nFrom: Bob <bob@example.com>\nSent: Friday\nTo: Ann\nSubject: Engine\n\nIt is hot.\n",
            Quoted("It is hot.", "bob@example.com"),
        ),
        ("> It is hot.\n\nYes\n", Quoted("It is hot.")),
        ("Am 20.11.26 schrieb Bob:\n> It is hot.\n\nYes\n", Quoted("It is hot.")),
        ("Yes\n-- \nAnn\n", None),
        ("Yes\n\nOn Fri, Nov 20, 2026 Bob <bob@example.com> wrote:\n", None),
        ("", None),
    ],
)
def test_the_mail_that_was_answered(text: str, quoted: Quoted | None) -> None:
    assert split_answer(text)[1] == quoted
