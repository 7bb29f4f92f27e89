"""What a document is called: by its own title, unless a program made that up, else by what else tells. Pure."""

import re
from pathlib import PurePath

from domain.knowledge.documents import APART, BlockKind, Document

_MAX_LEAD_WORDS = 40

_PRINTED_BY = re.compile(
    r"Microsoft (?:Office )?(?:Word|PowerPoint|Excel|Publisher|Visio)\s+-\s+", re.IGNORECASE
)
"""What printing from an office program into a PDF puts in front of the file's name."""

_ENDINGS = frozenset(
    {
        "ai", "cdr", "doc", "docm", "docx", "dot", "dotx", "dvi", "eps", "exe", "fm", "ind", "indd", "jpeg", "jpg",
        "odg", "odp", "ods", "odt", "p65", "pdf", "ppt", "pptx", "ps", "psd", "pub", "qxd", "rpt", "rtf", "tex",
        "tif", "tiff", "vsd", "vsdx", "wpd", "xls", "xlsm", "xlsx",
    }
)  # fmt: skip
"""Of files whose name ends up as the title of what is made from them."""

_PLACEHOLDERS = frozenset(
    {
        "about:blank", "activereports document", "blank", "book", "default", "doc", "document", "file", "image",
        "n/a", "new document", "new microsoft word document", "no title", "none", "null", "page",
        "powerpoint presentation",
        "presentation", "print", "scan", "scanned document", "sheet", "slide", "spreadsheet", "title", "unknown",
        "unnamed", "untitled", "untitled document", "untitled presentation", "untitled spreadsheet",
        "word document", "workbook",
        "document sans titre", "dokument", "mappe", "ohne titel", "powerpoint-präsentation", "präsentation",
        "presentación de powerpoint", "présentation", "présentation powerpoint", "sans nom", "sans titre",
        "senza titolo", "sin título", "tabelle", "unbenannt",
    }
)  # fmt: skip
"""What programs call a document that nobody gave a title, in lower case and without the number behind it."""
_LONGEST_PLACEHOLDER = 60
_NUMBER = re.compile(r"[\s_#-]*\(?\d+\)?$")


def title_of(document: Document, file_name: str) -> str:
    """The document's own title, else its short first line, else the file's name when it says anything."""
    own, stem = document.title.strip(), PurePath(file_name).stem
    if own in (file_name, stem):
        own = ""
    return meant_title(own) or _lead(document) or _readable(stem)


def meant_title(title: str) -> str:
    """A title without what a program put around it; empty where nothing is left that somebody meant."""
    printed = _PRINTED_BY.match(title)
    bare = title[printed.end() :] if printed else title
    stem, _, ending = re.split(r"[\\/]", bare)[-1].rpartition(".")
    if ending.lower() in _ENDINGS and stem:
        bare = "" if _is_placeholder(stem) else _readable(stem)
    return "" if _is_placeholder(bare) else bare


def _is_placeholder(title: str) -> bool:
    if not any(character.isalpha() for character in title):
        return True
    return (
        len(title) <= _LONGEST_PLACEHOLDER
        and _NUMBER.sub("", title.strip("<>[] ")).casefold() in _PLACEHOLDERS
    )


def _readable(stem: str) -> str:
    """The words of a file's name; empty where it is a mere mark such as 'scan0042'."""
    readable = re.sub(r"[_\-.]+", " ", stem)
    return readable if sum(len(word) >= 3 and word.isalpha() for word in readable.split()) >= 2 else ""


def _lead(document: Document) -> str:
    first = next((block for block in document.blocks if block.kind not in APART), None)
    text = first.text.strip() if first else ""
    line = text.split("\n", 1)[0]
    has_more = len(document.blocks) > 1 or "\n" in text
    is_lead = 0 < len(line.split()) <= _MAX_LEAD_WORDS and len(line) * 2 < len(document.text)
    return line if first and has_more and is_lead and first.kind is BlockKind.PARAGRAPH else ""
