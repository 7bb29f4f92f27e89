"""Pages of PDF files: their title, their margins and their lists of pages, as drawn on the page."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from domain.knowledge.documents import BlockKind
from tests.parsing.drawing import CONTENTS, SECTIONS, Drawn, drawn, lines, manual
from tests.parsing.making import pdf, texts

pytestmark = pytest.mark.anyio


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


LETTERS = {
    0x41: "س",
    0x42: "لا",
    0x43: "م",
    0x44: "\u0627",
    0x45: "ل",
    0x46: "\ufefb",
    0x47: "\ufeb3",
    0x48: "\ufee2",
    0x49: "ש",
    0x4A: "ל",
}


@pytest.mark.parametrize(
    ("glyphs", "text"),
    [("CBA", "سلام"), ("CBAED", "السلام"), ("HFG CBA", "سلام سلام"), ("JI", "של")],
    ids=["lam-alef of one glyph", "with the article", "presentation forms", "Hebrew"],
)
async def test_what_is_written_from_right_to_left_is_in_the_order_of_speech(parse, glyphs, text):
    # The bytes of a line stand from left to right, as its glyphs do.
    document = await parse(drawn([[Drawn(glyphs, 100, 100)]], letters=LETTERS), "a.pdf")

    assert document.text.strip() == text


async def test_a_scan_turned_by_a_quarter_loses_no_line(parse):
    said = (
        "Harbour rules",
        "Ships take a pilot at buoy seven.",
        "Fees",
        "Each pays twelve euros.",
        "No",
        "Page 7",
    )
    image = Image.new("L", (900, 700), "white")
    for number, line in enumerate(said):
        ImageDraw.Draw(image).text(
            (60, 60 + 100 * number), line, fill="black", font=ImageFont.load_default(34)
        )
    out = io.BytesIO()
    image.rotate(90, expand=True).save(out, "PDF", resolution=100)

    document = await parse(out.getvalue(), "a.pdf")

    assert document.text.split("\n\n") == list(said)


LEFT = [
    "The pilot boards at buoy seven",
    "and stays until the ship lies",
    "at its berth in the inner part",
    "of the harbour, near the crane.",
]
RIGHT = [
    "Each ship pays twelve euros for",
    "a day, and half of it in winter",
    "when the harbour is closed and",
    "no crane can be used at all.",
]


async def test_columns_drawn_row_by_row_are_read_one_after_the_other(parse):
    rows = [
        Drawn(text, left, 150 + 14 * number)
        for number, pair in enumerate(zip(LEFT * 2, RIGHT * 2, strict=True))
        for left, text in zip((72, 320), pair, strict=True)
    ]
    page = [Drawn("Rules for all ships in the harbour of Aberwyth and outside of it", 72, 100, 14), *rows]

    document = await parse(drawn([page]), "a.pdf")

    assert document.text.replace("\n\n", "\n").split("\n")[1:] == [*LEFT * 2, *RIGHT * 2]


async def test_a_table_is_read_row_by_row(parse):
    rows = [
        ("Ship", "Fee"),
        ("Northern Star", "120"),
        ("Grey Gull", "95"),
        ("Albatross", "180"),
        ("Sea Horse", "77"),
    ]
    page = [
        Drawn(text, left, 150 + 14 * number)
        for number, row in enumerate(rows)
        for left, text in zip((72, 320), row, strict=True)
    ]

    document = await parse(drawn([page]), "a.pdf")

    assert document.text.split("\n") == [f"{ship} {fee}" for ship, fee in rows]


async def test_headings_that_were_drawn_last_stand_before_their_content(parse):
    fields = [Drawn("Name Ada Quill", 72, 130), Drawn("City Bremen", 72, 145), Drawn("Frame WX-9", 72, 190)]
    headings = [Drawn("Bicycle", 72, 175), Drawn("Customer", 72, 115), Drawn("Repair order", 72, 90)]

    document = await parse(drawn([[*fields, *headings]]), "order.pdf")

    assert document.text.split("\n") == [
        "Repair order",
        "Customer",
        "Name Ada Quill",
        "City Bremen",
        "Bicycle",
        "Frame WX-9",
    ]


async def test_columns_stay_as_they_were_drawn_below_a_heading_that_was_drawn_last(parse):
    left = [Drawn(f"left column line {number}", 72, 100 + 14 * number) for number in range(5)]
    right = [Drawn(f"right column line {number}", 320, 100 + 14 * number) for number in range(5)]

    document = await parse(
        drawn([[*left, *right, Drawn("A heading over both of the columns of the page", 72, 70)]]), "a.pdf"
    )

    lines = document.text.split("\n")
    assert lines[0].startswith("A heading")
    assert lines[1:] == [drawing.text for drawing in (*left, *right)]
