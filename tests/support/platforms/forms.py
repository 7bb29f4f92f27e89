"""Reads the multipart forms that platforms get files in."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP

from tests.support.platforms.standin import Seen


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A part of a form; `name` is empty where it is a plain field."""

    name: str
    mime_type: str
    content: bytes


def multipart(seen: Seen) -> Mapping[str, Uploaded]:
    """The parts of a multipart/form-data body by field name; empty for another body."""
    head = f"content-type: {seen.headers.get('content-type', '')}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + seen.body)
    if not message.is_multipart():
        return {}
    return {
        str(part.get_param("name", header="content-disposition")): Uploaded(
            name=part.get_filename() or "",
            mime_type=part.get_content_type(),
            content=part.get_payload(decode=True) or b"",
        )
        for part in message.iter_parts()
    }
