"""A text that grows is shown as it would be whole, and its finished blocks are rendered once."""

import pytest

from adapters.outbound.rendering import GrowingText, Markup, render
from adapters.outbound.rendering import rendering as growing
from domain.channels.model import TextLimit, Unit

LIMIT = TextLimit(2000)
TEXT = """# Steam

It is **hot**, says `the gauge`.

- a valve
- another valve

    that is *rusty*

```python
print("one")

print("two")
```

The end."""


def shown(text: str, size: int = 7, markup: Markup = Markup.MRKDWN, limit: TextLimit = LIMIT) -> list[str]:
    text_so_far = GrowingText(markup, limit)
    ends = [*range(size, len(text), size), len(text)]
    return [text_so_far.rendered(text[:end]).text for end in ends]


@pytest.mark.parametrize("markup", [Markup.MRKDWN, Markup.DISCORD, Markup.MATTERMOST, Markup.TEAMS])
def test_in_the_end_it_reads_as_the_whole_does(markup: Markup) -> None:
    whole = render(markup, TEXT, LIMIT)[0].text
    assert shown(TEXT, markup=markup)[-1].split() == whole.split()


def test_a_fenced_block_is_not_cut_at_its_blank_lines() -> None:
    for text in shown("Before.\n\n```\none\n\ntwo\n\nthree\n```\n\nAfter.", 3):
        assert text.count("```") in (0, 2)


def test_finished_blocks_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []

    def counted(markup: Markup, markdown: str, limit: TextLimit | None) -> object:
        rendered.append(markdown)
        return render(markup, markdown, limit)

    monkeypatch.setattr(growing, "render", counted)
    paragraphs = [f"Paragraph {number} of the text." for number in range(100)]
    shown("\n\n".join(paragraphs), 30, limit=TextLimit(100_000))
    assert all(sum(each in text for text in rendered) <= 4 for each in paragraphs)


def test_what_is_shown_fits_and_stays_when_it_is_full() -> None:
    limit = TextLimit(500, Unit.UTF16)
    texts = shown("A sentence with words.\n\n" * 100, 40, Markup.TELEGRAM_HTML, limit)
    assert all(len(text.encode("utf-16-le")) // 2 <= 500 for text in texts)
    assert len(texts[-1]) > 400
    assert texts[-1] == texts[-2] == texts[-20]


def test_a_text_that_begins_anew_is_shown_anew() -> None:
    text = GrowingText(Markup.MRKDWN, LIMIT)
    text.rendered("One.\n\nTwo.\n\nThree")
    assert text.rendered("Another one").text == "Another one"
    assert text.rendered("").text == ""
