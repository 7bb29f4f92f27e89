"""Turns the body of an `HttpRequest` into what the client library sends."""

import io
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from aiohttp import MultipartWriter
from aiohttp.payload import AsyncIterablePayload, BytesIOPayload, BytesPayload, Payload

from adapters.outbound.http.bodies import Source, whole_body
from ports.http import FormFile, HttpRequest

_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
"""How the HTML standard escapes names in multipart/form-data; all else goes out as UTF-8 (RFC 7578, 4.2)."""


_LARGE = 64 * 1024
"""Bytes above this are written in pieces, so that they do not hold up the event loop."""


class _Stream(AsyncIterablePayload):
    """Streamed content, of known length where `size` is given."""

    def __init__(self, content: AsyncIterator[bytes], size: int | None, **options: Any) -> None:
        super().__init__(content, **options)
        self._size = size


def body_of(request: HttpRequest, source: Source) -> Payload | None:
    """The body with its content type, None where there is none."""
    if request.fields is not None or request.files:
        return _multipart(request.fields or {}, request.files, source)
    if body := whole_body(request):
        return _whole(*body)
    if request.content is None or isinstance(request.content, bytes):
        return None
    size = _announced(request.headers)
    content = source.guard(request.content, size)
    return _Stream(content, size, content_type="application/octet-stream")


def _announced(headers: Mapping[str, str]) -> int | None:
    length = next((value for name, value in headers.items() if name.lower() == "content-length"), "")
    return int(length) if length.isdecimal() else None


def _multipart(fields: Mapping[str, str], files: Iterable[FormFile], source: Source) -> MultipartWriter:
    writer = MultipartWriter("form-data")
    for name, value in fields.items():
        writer.append_payload(_whole(value.encode(), "text/plain; charset=utf-8", _disposition(name)))
    for file in files:
        disposition = _disposition(file.field, file.name)
        if isinstance(file.content, bytes):
            writer.append_payload(_whole(file.content, file.mime_type, disposition))
        else:
            content = source.guard(file.content, file.size)
            part = _Stream(content, file.size, content_type=file.mime_type, headers=disposition)
            writer.append_payload(part)
    return writer


def _disposition(field: str, filename: str | None = None) -> dict[str, str]:
    value = f'form-data; name="{field.translate(_ESCAPES)}"'
    if filename is not None:
        value += f'; filename="{filename.translate(_ESCAPES)}"'
    return {"Content-Disposition": value}


def _whole(content: bytes, mime_type: str, headers: dict[str, str] | None = None) -> Payload:
    if len(content) > _LARGE:
        return BytesIOPayload(io.BytesIO(content), content_type=mime_type, headers=headers)
    return BytesPayload(content, content_type=mime_type, headers=headers)
