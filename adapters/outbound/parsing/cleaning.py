"""Text as a database and a reader can take it."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff\ufffe\uffff]")
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_TRAILING = re.compile(r"[ \t]+\n")
_GAPS = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Without control characters, lone surrogates and stray blanks at line ends; newlines are `\\n`."""
    if not text.isprintable():
        if _NEWLINES.search(text):
            text = _NEWLINES.sub("\n", text)
        if _CONTROLS.search(text):
            text = _CONTROLS.sub("", text)
        if " \n" in text or "\t\n" in text:
            text = _TRAILING.sub("\n", text)
        if "\n\n\n" in text:
            text = _GAPS.sub("\n\n", text)
        text = _without_surrogates(text)
    return text.strip("\n").rstrip()


def without_controls(text: str) -> str:
    """Without the characters that no markup library takes."""
    return _without_surrogates(_CONTROLS.sub("", text))


def one_line(text: str) -> str:
    """Clean text with every run of white space as one blank."""
    return " ".join(clean(text).split())


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
