"""What a file holds once it has been read: its text in blocks that know where they stand."""

from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    PDF = "pdf"
    DOCX = "docx"
    DOC = "doc"
    PPTX = "pptx"
    PPT = "ppt"
    TXT = "txt"
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"
    XML = "xml"
    XLSX = "xlsx"
    XLS = "xls"
    JPEG = "jpeg"
    PNG = "png"
    GIF = "gif"
    WEBP = "webp"
    BMP = "bmp"
    MP3 = "mp3"
    WAV = "wav"
    OGG = "ogg"
    HTML = "html"
    RTF = "rtf"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    EPUB = "epub"
    EML = "eml"
    MSG = "msg"
    TIFF = "tiff"


class BlockKind(StrEnum):
    """What a block is; a chunk may hold several blocks, and rows, slides and segments stay whole in it."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"
    FIELD = "field"  # one "path: value" line of a JSON document
    NOTE = "note"  # speaker's notes, footnotes, endnotes, comments
    MARGIN = "margin"  # running headers and footers, page numbers
    CONTENTS = "contents"  # tables of contents, indexes: lists of places in the document itself
    SPEECH = "speech"  # one segment of recognised speech


_TIGHT = frozenset({BlockKind.TABLE_ROW, BlockKind.LIST_ITEM, BlockKind.FIELD, BlockKind.SPEECH})

APART = frozenset({BlockKind.MARGIN, BlockKind.CONTENTS})
"""What is in a document's text but says nothing of its own: it is not cut into chunks and gives no title."""


def separator(before: str, after: str) -> str:
    """What stands between two blocks in a document's text: a blank line around all but rows and the like."""
    return "\n" if before == after and before in _TIGHT else "\n\n"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document, in document order.

    `text` stands in `Document.text` at `start`. `heading_path` names the sections around it, the outermost
    first; a heading's own path ends with itself, and `level` (1 to 6) is a heading's alone. `page`, `slide`
    and the rows count from 1, `row_end` included; times are in seconds. `header` is the line of column names
    of the table that a row belongs to: the row's own text already carries them, as "name: value | ...".
    """

    kind: BlockKind
    text: str
    start: int = 0
    heading_path: tuple[str, ...] = ()
    level: int | None = None
    page: int | None = None
    sheet: str | None = None
    row_start: int | None = None
    row_end: int | None = None
    slide: int | None = None
    time_start: float | None = None
    time_end: float | None = None
    header: str | None = None

    @property
    def end(self) -> int:
        """The offset in `Document.text` just after the block."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class FileType:
    """What a file is by its content, whatever its name says."""

    format: Format
    mime_type: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file. `title` is the document's own, else its first heading, else the file's name.

    `text` is the extracted plain text: every block's text, in order. `engine` says what recognised speech
    or the text of pictures, when something did. `warnings` name the parts that could not be read.
    """

    title: str
    text: str
    blocks: tuple[Block, ...]
    mime_type: str
    format: Format
    engine: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormatSupport:
    """Support for a format in this installation. `how` names the reader, or what to install."""

    format: Format
    available: bool
    how: str
