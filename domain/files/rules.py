"""What the file of an answer or of a message may be. Pure."""

from urllib.parse import urlsplit

from domain.file_names import MAX_FILE_NAME
from domain.refusals import Fault

MAX_FILES = 20


def file_fault(name: str, mime_type: str, url: str | None, data: bytes | None) -> Fault | None:
    """What is wrong with a file that is given by its address or by its bytes, None for nothing. The field is empty
    where the fault is of the file as a whole."""
    if not name.strip() or len(name) > MAX_FILE_NAME or not name.isprintable():
        return Fault("name", "is not the name of a file")
    if len(mime_type) > MAX_FILE_NAME or not mime_type.isascii() or not mime_type.isprintable():
        return Fault("mimeType", "is not a media type")
    if (url is None) == (data is None):
        return Fault("", "needs either url or dataBase64")
    if url is not None and not _is_web_address(url):
        return Fault("url", "is not an http or https address")
    return None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and url.isprintable()
            and " " not in url
        )
    except ValueError:
        return False
