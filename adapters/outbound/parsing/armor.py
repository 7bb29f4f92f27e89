"""Text in the armor of OpenPGP (RFC 9580, 6.2): encrypted text is none, signed text is read without its signature."""

import re

from adapters.outbound.parsing.reading import Job

_MESSAGE = re.compile(r"^-----BEGIN PGP MESSAGE(?:, PART [\d/]{1,9})?-----\s*$", re.MULTILINE)
_MESSAGE_END = re.compile(r"^-----END PGP MESSAGE(?:, PART [\d/]{1,9})?-----\s*?$", re.MULTILINE)
_SIGNED = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----[ \t]*\n(?:[\w-]+: .*\n)*\n?", re.MULTILINE)
_SIGNATURE = re.compile(r"^-----BEGIN PGP SIGNATURE-----\s*$", re.MULTILINE)
_SIGNATURE_END = re.compile(r"^-----END PGP SIGNATURE-----\s*?$", re.MULTILINE)
_DASHES = re.compile(r"^- (?=-)", re.MULTILINE)
ENCRYPTED = "the text is encrypted (PGP) and was not read"


def without_armor(text: str) -> tuple[str, bool]:
    """The text without encrypted parts, signatures and marks, and whether a part was encrypted."""
    if "-----BEGIN PGP" not in text:
        return text, False
    text = text.replace("\r\n", "\n")
    plain = _without(text, _MESSAGE, _MESSAGE_END)
    signed = _SIGNED.sub("", _without(plain, _SIGNATURE, _SIGNATURE_END))
    return _DASHES.sub("", signed) if signed != plain else plain, plain != text


def read_unarmored(job: Job, text: str) -> str:
    """The text of a file without encrypted parts, with a warning of them; refuses one that is nothing else."""
    text, was_encrypted = without_armor(text)
    if was_encrypted:
        job.warn(ENCRYPTED)
        if not text.strip():
            raise job.unreadable("it is encrypted (PGP)")
    return text


def _without(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    kept, at = [], 0
    while opening := begin.search(text, at):
        kept.append(text[at : opening.start()])
        closing = end.search(text, opening.end())
        at = closing.end() if closing else len(text)
    return "".join([*kept, text[at:]])
