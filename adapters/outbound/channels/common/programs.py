"""Channels that programs write to with an API key: the key, files, the text of an answer, refusals."""

import base64
import math
from collections.abc import AsyncIterator, Mapping

from adapters.outbound.channels.common.bodies import same, text
from adapters.outbound.channels.common.client import DOWNLOAD_TIMEOUT, PlatformClient
from adapters.outbound.channels.common.contents import file_name
from domain import refusals
from domain.addresses import address_fault
from domain.channels.answers import Answer
from domain.channels.messages import Attachment, RawAnswer, RawCall
from domain.conversations.choices import numbered
from domain.conversations.rich_text import link
from domain.file_names import file_name as safe_name
from domain.file_names import mime_type
from domain.files import MOST_FILES
from domain.refusals import Fault, Invalid, Refusal, Unauthenticated
from ports.capabilities import PlatformError
from ports.http import Http, HttpRequest

LEAST_KEY = 16
LONGEST_KEY = 200
LONGEST_ADDRESS = 4000
WAIT_SECONDS = 600.0
"""How long a call waits for its answer."""

STREAM = RawAnswer(
    headers={
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
    },
    streams=True,
)
"""Begins an answer of Server-Sent Events."""

STATUS: Mapping[type[Refusal], int] = {
    refusals.Invalid: 400,
    refusals.Unauthenticated: 401,
    refusals.Forbidden: 403,
    refusals.NotFound: 404,
    refusals.TooLarge: 413,
    refusals.TooMany: 429,
    refusals.Unavailable: 503,
}


def key_fault(key: str) -> str | None:
    """Returns the fault of a configured API key."""
    if LEAST_KEY <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable() and " " not in key:
        return None
    return f"must have {LEAST_KEY} to {LONGEST_KEY} letters, digits and signs, and no blanks"


def authorize(key: str, call: RawCall) -> None:
    """Checks the header Authorization. Raises `Unauthenticated`."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(
            "the header Authorization is missing; send Bearer and the apiKey of the instance"
        )
    if not same(token.strip(), key):
        raise Unauthenticated("the API key is not the apiKey of this instance")


def status_of(refusal: Refusal) -> tuple[int, dict[str, str]]:
    """The status of a refusal, and its headers."""
    status = next((STATUS[kind] for kind in type(refusal).__mro__ if kind in STATUS), 400)
    if isinstance(refusal, (refusals.TooMany, refusals.Unavailable)):
        return status, {"retry-after": str(max(1, math.ceil(refusal.retry_after)))}
    return status, {"www-authenticate": "Bearer"} if status == 401 else {}


def linked_file(field: str, url: str, name: str = "", kind: str = "") -> Attachment:
    """A file that is given by its address: of http or https, or a data URL. Raises `Invalid`."""
    if url[:5].lower() == "data:":
        head, comma, data = url[5:].partition(",")
        declared, _, encoding = head.partition(";")
        if not comma or encoding.rpartition(";")[2].strip().lower() != "base64":
            raise Invalid.of([Fault(field, "must be a data URL in base64, or an http or https address")])
        return inline_file(field, data, name, kind or declared)
    if len(url) > LONGEST_ADDRESS or address_fault(url):
        raise Invalid.of([Fault(field, "must be an http or https address, or a data URL")])
    kind = mime_type(kind)
    last = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return Attachment(safe_name(name or last), kind, {"url": url})


def inline_file(
    field: str, data: str, name: str = "", kind: str = "", *, is_voice: bool = False
) -> Attachment:
    """A file that is given in base64. Raises `Invalid`."""
    try:
        size = len(base64.b64decode(data, validate=True))
    except ValueError:
        raise Invalid.of([Fault(field, "is not base64")]) from None
    kind = mime_type(kind)
    return Attachment(safe_name(name or file_name("file", kind)), kind, {"data": data}, size, is_voice)


def check_count(attachments: list[Attachment]) -> None:
    """Raises `Invalid`."""
    if len(attachments) > MOST_FILES:
        raise Invalid(f"the message has {len(attachments)} files; {MOST_FILES} are the most")


class LinkedFiles:
    """`ports.capabilities.AttachmentFetcher`: reads files at addresses under the outbound policy."""

    def __init__(self, http: Http) -> None:
        self._client = PlatformClient(http, "The address of the file", lambda _: "")

    async def fetch(self, config: object, attachment: Attachment) -> AsyncIterator[bytes]:
        if url := text(attachment.source, "url"):
            request = HttpRequest(
                "GET",
                url,
                timeout=DOWNLOAD_TIMEOUT,
                max_bytes=1 << 30,
                user_address=True,
                follow_redirects=True,
            )
            async for piece in self._client.download(request):
                yield piece
            return
        try:
            yield base64.b64decode(text(attachment.source, "data"), validate=True)
        except ValueError as error:
            raise PlatformError("the file is not base64") from error


def text_of(answer: Answer | None) -> str:
    """The answer as Markdown: its text with its choices, which a reply picks."""
    return numbered(answer).text.strip() if answer else ""


def links_of(answer: Answer | None) -> str:
    """The files of an answer as Markdown links, a line each."""
    files = answer.artifacts if answer else ()
    return "\n".join(("!" if file.is_image else "") + link(file.name, file.url) for file in files)
