"""Chunks: nothing lost, nothing too long, whole rows, slides and sections."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.chunking import Limits, chunk
from domain.knowledge.documents import Block, BlockKind, Document, FileType, Format
from tests.support.documents import document_of
from tests.support.hashed_embedder import count_words

TXT = FileType(Format.TXT, "text/plain")


def tokens(text: str) -> int:
    return count_words([text])[0]


def document(*blocks: Block, title: str = "Handbook") -> Document:
    return document_of(title, blocks, TXT)


def paragraph(text: str, *path: str, page: int | None = None) -> Block:
    return Block(BlockKind.PARAGRAPH, text, heading_path=path, page=page)


def sentences(number: int, start: int = 0) -> str:
    return " ".join(
        f"Sentence number {i} says a little about turbines." for i in range(start, start + number)
    )


def test_an_empty_document_has_no_chunks() -> None:
    assert chunk(document(), "a.txt", count_words) == []


def test_a_short_document_is_one_chunk_as_it_stands() -> None:
    made = chunk(document(paragraph("One line.\nAnother  line.", page=3)), "a.txt", count_words)
    assert [piece.text for piece in made] == ["One line.\nAnother  line."]
    assert made[0].context == "Handbook"
    assert made[0].searchable == "Handbook\nOne line.\nAnother  line."
    assert made[0].metadata == {"position": 0, "start": 0, "end": 24, "title": "Handbook", "page": 3}


def test_chunks_are_full_end_with_sentences_and_overlap_by_a_short_one() -> None:
    made = chunk(document(paragraph(sentences(60))), "a.txt", count_words)
    assert len(made) > 3
    lengths = [len(piece.text.split()) for piece in made]
    assert all(Limits().words - 8 < length <= Limits().words for length in lengths[:-1])
    assert Limits().least_words <= lengths[-1] <= Limits().words
    for piece, following in pairwise(made):
        assert piece.text.endswith("turbines.")
        last = piece.text.rsplit(". ", 1)[1]
        assert following.text.startswith(last)


def test_a_few_words_at_the_end_join_the_chunk_before() -> None:
    full = Limits().words // 8
    made = chunk(document(paragraph(sentences(full) + " The end.")), "a.txt", count_words)
    assert len(made) == 1
    assert made[0].text.endswith("The end.")


def test_a_title_takes_no_room_from_the_first_chunk() -> None:
    text = sentences(Limits().words // 8)
    made = chunk(
        document(paragraph("A " * 10 + "title"), paragraph(text), title="x.txt"), "x.txt", count_words
    )
    assert [piece.text for piece in made] == ["A " * 10 + "title\n\n" + text]


def test_what_has_many_tokens_for_its_words_is_cut_by_tokens() -> None:
    hashes = " ".join(f"{number:064x}." for number in range(60))
    made = chunk(document(paragraph(hashes)), "a.txt", count_words)
    assert all(100 <= tokens(piece.text) <= Limits().tokens for piece in made[:-1])


def test_a_section_starts_a_chunk_and_its_path_is_the_context() -> None:
    made = chunk(
        document(
            Block(BlockKind.HEADING, "Install", heading_path=("Install",), level=1),
            paragraph("Run it.", "Install"),
            Block(BlockKind.HEADING, "Linux", heading_path=("Install", "Linux"), level=2),
            paragraph("Use the shell.", "Install", "Linux"),
        ),
        "a.md",
        count_words,
    )
    assert [piece.text for piece in made] == ["Install\n\nRun it.", "Linux\n\nUse the shell."]
    assert made[1].context == "Handbook\nInstall"
    assert made[1].metadata["headingPath"] == ["Install", "Linux"]


def test_headings_without_text_between_them_share_a_chunk() -> None:
    made = chunk(
        document(
            Block(BlockKind.HEADING, "Part", heading_path=("Part",), level=1),
            Block(BlockKind.HEADING, "Chapter", heading_path=("Part", "Chapter"), level=2),
            paragraph("Text.", "Part", "Chapter"),
        ),
        "a.md",
        count_words,
    )
    assert [piece.text for piece in made] == ["Part\n\nChapter\n\nText."]


def test_rows_stay_whole_and_say_which_they_are() -> None:
    rows = [
        Block(
            BlockKind.TABLE_ROW,
            f"name: pump {i} | price: {i}.50 | note: kept in hall number {i}",
            sheet="Stock",
            row_start=i,
            row_end=i,
        )
        for i in range(1, 40)
    ]
    made = chunk(document(*rows), "a.xlsx", count_words)
    assert len(made) > 2
    for piece in made:
        assert all(line.startswith("name: pump") and "hall number" in line for line in piece.text.split("\n"))
        assert piece.context == "Handbook\nStock"
        assert piece.metadata["sheet"] == "Stock"
    assert made[0].metadata["rowStart"] == 1
    assert made[-1].metadata["rowEnd"] == 39
    assert made[1].metadata["rowStart"] == made[0].metadata["rowEnd"] + 1


def test_slides_and_speech_keep_their_place() -> None:
    slides = [Block(BlockKind.PARAGRAPH, f"Slide text {i}", slide=i) for i in (1, 2)]
    assert [piece.metadata["slide"] for piece in chunk(document(*slides), "a.pptx", count_words)] == [1, 2]
    speech = [
        Block(BlockKind.SPEECH, f"spoken {i}", time_start=i * 2.0, time_end=i * 2.0 + 2) for i in range(3)
    ]
    made = chunk(document(*speech), "a.wav", count_words)
    assert (made[0].metadata["timeStart"], made[0].metadata["timeEnd"]) == (0.0, 6.0)


def test_a_file_without_a_title_takes_its_short_first_line() -> None:
    blocks = (paragraph("Working hours"), paragraph(sentences(60)))
    made = chunk(document(*blocks, title="doc-17.txt"), "doc-17.txt", count_words)
    assert made[0].context == ""
    assert made[1].context == "Working hours"


def test_a_file_name_serves_when_it_says_something() -> None:
    body = paragraph(sentences(2))
    assert chunk(document(body, title="annual_report-2024.txt"), "annual_report-2024.txt", count_words)[
        0
    ].context == ("annual report 2024")
    assert chunk(document(body, title="4983.txt"), "4983.txt", count_words)[0].context == ""


def test_a_huge_title_leaves_room_for_the_text() -> None:
    made = chunk(document(paragraph(sentences(50)), title="word " * 5000), "a.txt", count_words)
    assert all(tokens(piece.searchable) <= Limits().maximum for piece in made)


def test_text_without_any_blank_is_cut_all_the_same() -> None:
    made = chunk(document(paragraph("x" * 50_000)), "a.txt", count_words)
    assert "".join(piece.text for piece in made) == "x" * 50_000
    assert all(tokens(piece.searchable) <= Limits().maximum and len(piece.text) <= 4000 for piece in made)


def test_running_headers_and_tables_of_contents_are_passed_over() -> None:
    made = chunk(
        document(
            paragraph("The pump is"),
            Block(BlockKind.MARGIN, "Handbook 12"),
            paragraph("serviced in March."),
            Block(BlockKind.CONTENTS, "1 Pumps . . . 3"),
            paragraph("Fans run on."),
        ),
        "a.pdf",
        count_words,
    )
    assert [piece.text for piece in made] == ["The pump is", "serviced in March.", "Fans run on."]
    assert [piece.metadata["position"] for piece in made] == [0, 1, 2]


def test_a_document_of_nothing_but_such_lists_is_cut_all_the_same() -> None:
    made = chunk(
        document(Block(BlockKind.MARGIN, "Price list"), Block(BlockKind.CONTENTS, "Pump . . . 40")),
        "a.pdf",
        count_words,
    )
    assert [piece.text for piece in made] == ["Price list\n\nPump . . . 40"]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60)
BLOCKS = st.builds(
    Block,
    st.sampled_from(
        [BlockKind.PARAGRAPH, BlockKind.TABLE_ROW, BlockKind.HEADING, BlockKind.CODE, BlockKind.LIST_ITEM]
    ),
    st.lists(WORDS, min_size=1, max_size=120).map(" ".join),
    heading_path=st.sampled_from([(), ("One",), ("One", "Two")]),
    slide=st.sampled_from([None, 1, 2]),
)


@given(st.lists(BLOCKS, max_size=6))
def test_no_word_is_lost_and_no_chunk_is_too_long(blocks: list[Block]) -> None:
    made = chunk(document(*blocks), "a.txt", count_words)
    whole = document(*blocks).text
    held = bytearray(len(whole))
    for piece in made:
        start, end = piece.metadata["start"], piece.metadata["end"]
        assert whole[start:end] == piece.text
        assert tokens(piece.searchable) <= Limits().maximum
        held[start:end] = b"\1" * (end - start)
    lost = [char for index, char in enumerate(whole) if not held[index]]
    assert "".join(lost).strip() == ""
    assert [piece.position for piece in made] == list(range(len(made)))
