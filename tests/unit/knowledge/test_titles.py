"""Titles that a person meant, and those that a program made up."""

import time

import pytest

from domain.knowledge.documents import Block, BlockKind, FileType, Format
from domain.knowledge.titles import title_of
from tests.support.documents import document_of

BODY = "The harbour opens at six and closes at ten. " * 3


PDF = FileType(Format.PDF, "application/pdf")


def titled(title: str, file_name: str = "4983.pdf", *lines: str) -> str:
    blocks = [Block(BlockKind.PARAGRAPH, line) for line in (*lines, BODY)]
    return title_of(document_of(title, blocks, PDF), file_name)


@pytest.mark.parametrize(
    "title",
    [
        "Harbour rules",
        "Chapter 1",
        "Book of Hours",
        "Document management for harbours",
        "Untitled no more",
        "TCP/IP",
        "Node.js",
        "robots.txt",
        "港の規則",
        "Q3",
        "Pasta",
        "Folie",
        "Libro de cocina",
        "Anonymous Four",
        "Report 2024",
        "Layout",
        "Titelverteidigung",
    ],
)
def test_a_title_that_says_something_stands(title: str) -> None:
    assert titled(title) == title


@pytest.mark.parametrize(
    "title",
    [
        "untitled",
        "Untitled-1",
        "<Untitled>",
        "Untitled document (3)",
        "Microsoft Word - Document1",
        "Microsoft Word - Document1.docx",
        "Microsoft Office Word - 12.doc",
        "Microsoft PowerPoint - Presentation2.pptx",
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "Dokument1",
        "sans titre",
        "Book1.xlsx",
        "Scan_0042",
        "scan0042.pdf",
        "/tmp/print job/x17.ps",
        "about:blank",
        "12.04.2021",
        "---",
        "",
        " ",
        "(anonymous)",
        "(unspecified)",
        "Diapositive 1",
        "Folie 1",
        "Слайд 3",
        "スライド 1",
        "幻灯片 1",
        "Présentation PowerPoint",
        "Presentación de PowerPoint",
        "Презентация PowerPoint",
        "PowerPoint 演示文稿",
        "Prezentacja programu PowerPoint",
        "Sem título 2",
        "Naamloos",
        "Bez názvu 1",
        "無題",
        "Ads\u0131z",
        "Mappe1",
        "Classeur1.xlsx",
        "Libro1",
        "Hoja 2",
        "IMG_2041.jpg",
        "Scanned by CamScanner",
        "No Slide Title",
        "Click to add title",
        "Kein Folientitel",
        "Insert Title",
        "[Titel]",
        "KMBT_C364-20270105",
        "SKM_C25821",
        "~WRL0001.tmp",
        "Layout 1",
        "Microsoft PowerPoint - [Kompatibilitätsmodus]",
        "file:///C|/temp/x.htm",
    ],
)
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    assert titled(title) == ""
    assert titled(title, "4983.pdf", "Rules of the harbour") == "Rules of the harbour"
    assert titled(title, "harbour_rules.pdf") == "harbour rules"


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("Microsoft Word - Harbour rules", "Harbour rules"),
        ("Microsoft Word - harbour_rules-2024.docx", "harbour rules 2024"),
        (r"C:\Users\kim\Harbour rules.doc", "Harbour rules"),
    ],
)
def test_what_a_program_put_around_a_title_is_left_out(title: str, meant: str) -> None:
    assert titled(title) == meant


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("harbour.csv", "harbour"),
        ("harbour2027.csv", "harbour2027"),
        ("Jahresbericht.pdf", "Jahresbericht"),
        ("合同.pdf", "合同"),
        ("pier_7.txt", "pier 7"),
        ("IMG_2041.jpg", ""),
        ("scan0042.pdf", ""),
        ("IMG-20270105-WA0007.jpg", ""),
        ("4711.pdf", ""),
        ("document (3).docx", ""),
        ("x17.ps", ""),
    ],
)
def test_a_file_name_of_one_word_is_a_title_unless_a_machine_gave_it(name: str, title: str) -> None:
    assert titled("", name) == title


@pytest.mark.parametrize("title", ["/" * 200_000, " " * 100_000 + "x" + " _" * 100_000 + "x", "1" * 200_000])
def test_a_title_without_end_takes_no_time(title: str) -> None:
    started = time.process_time()
    titled(title)
    assert time.process_time() - started < 5  # where it was quadratic, it took minutes
