"""Names of uploaded files, whichever way they came in."""

import pytest

from domain.file_names import MAX_FILE_NAME, file_name, mime_type


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\plan.docx", "plan.docx"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("Pl\u00e4ne 2024 \U0001f680.pdf", "Pl\u00e4ne 2024 \U0001f680.pdf"),
        ('a"b;c.txt', 'a"b;c.txt'),
        ("a\x00\x1f\x7f\x85b.txt", "ab.txt"),
        ("two\r\nlines.txt", "twolines.txt"),
        ("invoice\u202etxt.exe", "invoicetxt.exe"),
        ("  blanks .txt ", "blanks .txt"),
        (".hidden", ".hidden"),
        ("", "unnamed"),
        ("/", "unnamed"),
        (".", "unnamed"),
        ("..", "unnamed"),
        ("folder/..", "unnamed"),
        (". . .", "unnamed"),
        ("\x00", "unnamed"),
        ("half a pair\ud83d.txt", "half a pair.txt"),
    ],
)
def test_a_name_is_a_name_alone(given: str, name: str) -> None:
    assert file_name(given) == name


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("image/png", "image/png"),
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("", "application/octet-stream"),
        ("image", "application/octet-stream"),
        ("text/plain\r\nX-Evil: 1", "application/octet-stream"),
        ("text/pl\u00e4in", "application/octet-stream"),
        ("image/" + "x" * 10_000, "application/octet-stream"),
    ],
)
def test_a_type_fits_a_header(given: str, kind: str) -> None:
    assert mime_type(given) == kind


def test_a_long_name_keeps_its_end() -> None:
    name = file_name("a" * 300 + ".txt")
    assert name.endswith("a.txt")
    assert len(name) == MAX_FILE_NAME
