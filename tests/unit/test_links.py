"""Addresses of links are added to texts that have the labels alone."""

import time

import pytest

from adapters.outbound.system.links import address_behind, with_addresses

POST = "https://example.com/post"


@pytest.mark.parametrize(
    ("label", "href", "behind"),
    [
        ("the post", POST, f" ({POST})"),
        ("", POST, POST),
        (POST, POST, ""),
        ("example.com/post", f"{POST}/", ""),
        ("ada@example.com", "mailto:ada@example.com", ""),
        ("Ada", "mailto:ada@example.com", " (ada@example.com)"),
        ("Ada", "tel:+491", " (+491)"),
        ("top", "#top", ""),
        ("run", "javascript:alert(1)", ""),
        ("", "", ""),
    ],
)
def test_the_address_stands_behind_a_label_that_does_not_show_it(label: str, href: str, behind: str) -> None:
    assert address_behind(label, href) == behind


@pytest.mark.parametrize(
    ("text", "labels", "shown"),
    [
        ("go there or here", ["here"], "go there or here (1)"),
        ("here and here", ["here", "here"], "here (1) and here (2)"),
        ("the\nnews", ["the news"], "the\nnews (1)"),
        ("\u8bf7\u770b\u65b0\u95fb\u5427", ["\u65b0\u95fb"], "\u8bf7\u770b\u65b0\u95fb (1)\u5427"),
        ("second, first", ["first", "second"], "second, first (1)"),
        ("nothing", ["news"], "nothing"),
        ("(see the news!)", ["the news!"], "(see the news! (1))"),
        ("\N{GRINNING FACE} a", ["\N{GRINNING FACE}", "a"], "\N{GRINNING FACE} (1) a (2)"),
        ("news: https://e.org/1", ["news"], "news: https://e.org/1"),
    ],
)
def test_the_labels_are_found_in_their_order(text: str, labels: list[str], shown: str) -> None:
    links = [(label, f"https://e.org/{number}") for number, label in enumerate(labels, start=1)]
    assert with_addresses(text, links).replace("(https://e.org/", "(") == shown


@pytest.mark.parametrize(
    ("text", "label", "href", "shown"),
    [
        ("look", "", POST, f"look\n{POST}"),
        ("look", "a picture", POST, f"look\na picture ({POST})"),
        (f"{POST}/1 and the blog", "the blog", POST, f"{POST}/1 and the blog ({POST})"),
        (f"The blog: {POST}.", "the blog", POST, f"The blog: {POST}."),
        ("write", "write", "MAILTO:ada@example.com", "write (ada@example.com)"),
    ],
)
def test_every_link_of_a_text_is_complete(text: str, label: str, href: str, shown: str) -> None:
    assert with_addresses(text, [(label, href)], complete=True) == shown


HOSTILE = [
    "a" * 1_000_000,
    "a " * 500_000,
    " " * 1_000_000,
    "(" * 1_000_000,
    "b b b b b b b b b b b x " * 42_000,
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("label", ["a c", "b " * 12, "a" * 300, "( ("])
def test_a_hostile_text_is_done_within_a_second(text: str, label: str) -> None:
    links = [(label, f"https://e.org/{number}") for number in range(100_000)]
    times = []
    for _ in range(2):  # the garbage collector may run in one of them, over all that the tests before left
        began = time.process_time()
        with_addresses(text, links, complete=True)
        times.append(time.process_time() - began)
    assert min(times) < 0.5
