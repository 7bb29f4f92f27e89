"""Pages of PDF files: their title, their margins and their lists of pages, as drawn on the page."""

from __future__ import annotations

import pytest

from domain.knowledge.documents import BlockKind
from tests.parsing.drawing import Drawn, drawn, lines
from tests.parsing.making import pdf, texts

pytestmark = pytest.mark.anyio

SECTIONS = {
    "Arrival": "Ships take a pilot on board at buoy seven and wait for the tide.",
    "Mooring": "A berth is given by the harbour master, who asks for the length.",
    "Fees": "Each ship pays twelve euros for a day, and half of it in winter.",
    "Fines": "Who moors at a berth of another pays a fine of ninety euros.",
}
CONTENTS = [f"{number} {name} . . . . . . . . . {number}" for number, name in enumerate(SECTIONS, 1)]


def manual() -> bytes:
    """A title page, contents, and four pages with a running header and their number."""
    cover = [
        *lines("Port authority", top=80),
        *lines("Rules of the harbour", "of Aberwyth", top=200, size=24),
    ]
    pages = [cover, lines("Contents", *CONTENTS)]
    for number, (name, text) in enumerate(SECTIONS.items(), 1):
        header = Drawn(f"Aberwyth QX-4711 {number}", 72, 50)
        pages.append([header, *lines(f"{number} {name}", text, text), Drawn(f"- {number} -", 300, 750)])
    return drawn(pages)


async def test_the_title_is_the_largest_line(parse):
    assert (await parse(manual(), "a.pdf")).title == "Rules of the harbour of Aberwyth"


async def test_the_first_bookmark_is_no_title(parse):
    pages = [["Rules of the harbour", "for ships"], ["1 Introduction", "Ships come and go."]]

    document = await parse(pdf(pages, outline=[("1 Introduction", 1)]), "a.pdf")

    assert document.title == "a"  # from which, and the lines, the chunks' title is found


async def test_a_title_that_a_program_made_up_gives_way_to_the_largest_line(parse):
    page = [*lines("Rules of the harbour", size=20), *lines("Ships come and go.", top=200)]

    document = await parse(drawn([page], title="Microsoft Word - Document1.docx"), "a.pdf")

    assert document.title == "Rules of the harbour"


async def test_margins_stand_at_the_end_of_the_text_and_are_told_apart(parse):
    document = await parse(manual(), "a.pdf")

    assert "- 3 -" not in texts(document, BlockKind.PARAGRAPH)
    assert texts(document, BlockKind.MARGIN)[-1] == "Aberwyth QX-4711 4\n- 4 -"
    assert all(f"- {number} -" in document.text for number in range(1, 5))


async def test_a_number_in_a_header_that_stands_nowhere_else_can_be_found(parse):
    document = await parse(manual(), "a.pdf")

    held = [
        block for block in document.blocks if "QX-4711" in block.text and block.kind is not BlockKind.MARGIN
    ]
    assert [(block.text, block.page) for block in held] == [("Aberwyth QX-4711 1", 3)]


async def test_contents_are_told_apart(parse):
    document = await parse(manual(), "a.pdf")

    assert texts(document, BlockKind.CONTENTS) == ["\n".join(("Contents", *CONTENTS))]


async def test_a_list_that_is_the_whole_document_is_its_text(parse):
    document = await parse(drawn([lines("Contents", *CONTENTS)]), "a.pdf")

    assert texts(document, BlockKind.CONTENTS) == []
    assert CONTENTS[0] in document.text


@pytest.mark.parametrize(("left", "top", "margins"), [(5, 400, ["x"]), (400, 20, [])])
async def test_the_edges_of_a_page_are_those_that_are_shown(parse, left, top, margins):
    # With /Rotate 90 what is drawn at the left is shown at the top.
    pages = [[*lines(text, left=150), Drawn("x", left, top)] for text in SECTIONS.values()]

    document = await parse(drawn(pages, rotate=90), "a.pdf")

    assert texts(document, BlockKind.MARGIN) == margins
