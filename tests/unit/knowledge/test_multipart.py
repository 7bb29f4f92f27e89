"""Multipart bodies as they come in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.inbound.rest.multipart import MAX_FIELD_BYTES, MultipartReader, decoded_name
from domain.refusals import Invalid, TooLarge

TYPE = "multipart/form-data; boundary=xyz"


def part(disposition: str, content: bytes) -> bytes:
    return (
        b"--xyz\r\nContent-Disposition: form-data; " + disposition.encode() + b"\r\n\r\n" + content + b"\r\n"
    )


async def cut(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


async def read(body: bytes, size: int = 1000, content_type: str = TYPE) -> list[tuple[str, bytes]]:
    files = MultipartReader(content_type, cut(body, size)).files()
    return [(file.name, b"".join([piece async for piece in file.content])) async for file in files]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
async def test_files_under_any_field_name_in_pieces_of_any_size(size: int) -> None:
    body = (
        part('name="a"; filename="one.txt"', b"first\r\n--xy\r\n")
        + part('name="note"', b"a plain field")
        + part('name="zzz"; filename="\xc3\xa4 b.md"'.encode("latin-1").decode(), b"")
        + part('name="empty"; filename=""', b"")
        + b"--xyz--\r\n"
    )
    assert await read(body, size) == [("one.txt", b"first\r\n--xy\r\n"), ("\u00e4 b.md", b"")]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("", b"x"),
        ("application/json", b"{}"),
        ("multipart/form-data", b"--x"),
        (TYPE, b"--xyz--\r\n"),
        (TYPE, b""),
    ],
)
async def test_no_files(content_type: str, body: bytes) -> None:
    assert await read(body, content_type=content_type) == []


@pytest.mark.parametrize(
    "body",
    [
        b"nonsense without any boundary",
        part('name="a"; filename="one.txt"', b"cut off"),
        b'--xyz\r\nContent-Disposition: form-data; name="a"; filename="one.txt"\r\n\r\nno end',
        b"--xyz\r\nNo colon\r\n\r\n",
    ],
)
async def test_what_is_broken_or_breaks_off_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        await read(body)


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ("name=\"f\"; filename*=utf-8''na%C3%AFve%20%E2%82%AC.txt", "naïve €.txt"),
        ('name="f"; filename="=?utf-8?B?w6QudHh0?="; filename*=UTF-8\'\'%C3%A4.txt', "ä.txt"),
        ('name="f"; filename="fallback.txt"; filename*=iso-8859-1\'en\'caf%E9.txt', "café.txt"),
        ('name="f"; filename="plain.txt"; filename*=UTF-8\'\'%FF%FE', "plain.txt"),
        ('name="f"; filename="plain.txt"; filename*=koi8-r\'\'%FF', "plain.txt"),
        ('name="f"; filename="a; filename*=UTF-8\'\'b.exe; .txt"', "a; filename*=UTF-8''b.exe; .txt"),
    ],
)
async def test_names_outside_ascii_in_the_form_for_headers(disposition: str, name: str) -> None:
    assert await read(part(disposition, b"text") + b"--xyz--\r\n") == [(name, b"text")]


async def test_endless_headers_and_fields_are_refused() -> None:
    with pytest.raises((TooLarge, Invalid)):
        await read(b"--xyz\r\nX: " + b"a" * 100_000)
    with pytest.raises(TooLarge):
        await read(part('name="a"', b"a" * (MAX_FIELD_BYTES + 1)), 65536)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Pläne 2024.pdf".encode(), "Pläne 2024.pdf"),
        (b"caf\xe9.txt", "café.txt"),
        (b"a%22b%0Ac%20d.txt", 'a"b c%20d.txt'),
        (b"100%25.txt", "100%25.txt"),
    ],
)
def test_names_as_browsers_write_them(raw: bytes, name: str) -> None:
    assert decoded_name(raw) == name
