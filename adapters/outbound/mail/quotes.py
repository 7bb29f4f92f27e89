"""Separates the text of a mail's sender from the conversation that it quotes, and from the signature.

Only a mail that answers another one (RFC 5322, 3.6.4) quotes it: of any other mail all but the signature stays.
The removed part of an answer is handed on as the quoted message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import filterfalse

from domain.channels.messages import Quoted

_ATTRIBUTION = re.compile(
    r"^\s*(?:"
    r"On\b.{5,300}\bwrote:|"
    r"Am\b.{5,300}\bschrieb\b.{0,200}:|Le\b.{5,300}\ba écrit\s*:|El\b.{5,300}\bescribió:|"
    r"Il\b.{5,300}\bha scritto:|Op\b.{5,300}\bschreef\b.{0,200}:|Em\b.{5,300}\bescreveu:|"
    r"W dniu\b.{5,300}\bpisze:|Den\b.{5,300}\bskrev\b.{0,200}:"
    r")\s*$",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESSED = re.compile(r"^(?=.*\d).{3,300}<[^<>\s@]+@[^<>\s]+>.{0,40}[:\uff1a]\s*$", re.DOTALL)
"""An attribution in any language, a date and an address, where a quotation follows."""
_SEPARATOR = re.compile(
    r"^\s*-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|"
    r"Messaggio originale|Oorspronkelijk bericht)\s*-{2,}\s*$",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    r"^\s*(?:-{2,}\s*(?:Forwarded message|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|"
    r"Messaggio inoltrato|Doorgestuurd bericht|Mensagem encaminhada)\s*-{2,}|"
    r"(?:Begin forwarded message|Anfang der weitergeleiteten Nachricht|Début du message transféré|"
    r"Inicio del mensaje reenviado|Inizio messaggio inoltrato|Begin doorgestuurd bericht)\s*:)\s*$",
    re.IGNORECASE,
)
_RULE = re.compile(r"^\s*_{20,}\s*$")
_HEADER_BLOCK = re.compile(r"^\*?(?:From|Von|De|Da|Van)\s?:\*?\s\S", re.IGNORECASE)
_HEADER_DATE = re.compile(
    r"^\*?(?:Sent|Gesendet|Envoyé|Enviado(?: el)?|Inviato|Verzonden|Date|Datum|Data|Fecha)\s?:\*?\s",
    re.IGNORECASE,
)
_HEADER_OTHER = re.compile(
    r"^\*?(?:To|An|À|Para|A|Aan|Cc|Kopie|Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp)\s?:\*?(?:\s|$)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"<(?:mailto:)?([^<>\s@]+@[^<>\s]+)>")
_QUOTE_MARK = re.compile(r"^\s*> ?")
_DEVICE = re.compile(
    r"^\s*(?:(?:Sent from|Von|Gesendet (?:von|mit)|Envoyé (?:de|depuis|à partir de)|Enviado (?:desde|do)|"
    r"Inviato da(?:l)?|Verstuurd vanaf|Verzonden vanaf) (?:(?:my|mein\w*|der|mon|mi|meu|mio|mijn|la|the)\s)?.{0,30}?"
    r"\b(?:iPhone|iPad|Outlook|Mail|Yahoo|Samsung|Galaxy|Gmail|Proton\w*|Android\w*|Mobil\w*|Handy|Smartphone|"
    r"BlackBerry|Huawei|Xiaomi|Pixel|GMX|WEB\.DE|phone|tablet)\b|"
    r"Get Outlook for\b|Holen Sie sich Outlook\b|Obtenir Outlook\b|Obtener Outlook\b).{0,60}$",
    re.IGNORECASE,
)
"""The line that phones and mail programs add below a mail."""
_SIGNATURE_LINES = 12
"""Lines of the longest signature: more below its delimiter are text."""
_DATED = re.compile(r"\d{4}|\d[:.]\d\d|<[^<>\s@]+@[^<>\s]+>")
"""What the line above a quotation names that is not marked as one: a year, a time or an address."""
_MAX_LINES = 5_000
"""Lines that are looked at: the rest is text."""
_ATTRIBUTION_LINES = 3
"""Over how many lines an attribution may be wrapped."""


_ABOVE_QUOTE = re.compile(rf"{_SEPARATOR.pattern}|{_RULE.pattern}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a mail. Of each index: `following` is the first line from there on that is not empty, `has_colon` says
    that one of the lines of an attribution there ends with a colon. `last_own` is the index of the last line that is
    neither empty nor marked as quoted."""

    lines: list[str]
    following: list[str]
    has_colon: list[bool]
    last_own: int

    @classmethod
    def of(cls, lines: list[str]) -> "_Lines":
        following = [""] * (len(lines) + 1)
        has_colon = [False] * (len(lines) + _ATTRIBUTION_LINES)
        last_own = -1
        for index in range(len(lines) - 1, -1, -1):
            line = lines[index]
            if line[-50:].rstrip().endswith((":", "\uff1a")):
                for start in range(max(0, index - _ATTRIBUTION_LINES + 1), index + 1):
                    has_colon[start] = True
            following[index] = line if line.strip() else following[index + 1]
            if last_own < 0 and line.strip() and not _is_quoted(line):
                last_own = index
        return cls(lines, following, has_colon, last_own)


def without_signature(text: str) -> str:
    """A mail that answers none, without the signature below "-- " (RFC 3676, 4.3). One with a forwarded mail stays
    whole."""
    lines = _split(text)
    if not any(_FORWARD.match(line) for line in lines):
        lines = _without_signature(lines, ("-- ",))
    return "\n".join(lines).strip() or text.strip()


def split_answer(text: str, quoted: str = "") -> tuple[str, Quoted | None]:
    """What the sender of an answer wrote, and what was removed: the conversation above or below it, and what looks
    like a signature without the mark of one. `quoted` is what the mail program marked as such already.

    A quotation with answers between its lines stays, as the answers refer to it, and so does a forwarded mail. A
    mail that is nothing but quotation is returned whole.
    """
    if any(_FORWARD.match(line) for line in quoted.split("\n", 3)[:3]):
        return "\n\n".join(filter(None, (without_signature(text), quoted.strip()))), None
    lines = _split(text)
    end = _history_start(_Lines.of(lines))
    forward_at = next((index for index, line in enumerate(lines[:end]) if _FORWARD.match(line)), None)
    if forward_at is None:
        own, forward, history = lines[:end], [], lines[end:]
    else:
        own, forward, history = lines[:forward_at], lines[forward_at:], []
    first, last = _own_range(_Lines.of(own))
    signed = _without_signature(own[first:last], ("-- ",))
    message = _without_signature(signed, ("--",))
    filled = [index for index, line in enumerate(message) if line.strip()]
    if len(filled) > 1 and _DEVICE.match(message[filled[-1]]):
        message = message[: filled[-1]]
    sections = ("\n".join(section).strip() for section in (message, forward))
    kept = "\n\n".join(filter(None, sections))
    if not kept:
        return "\n\n".join(filter(None, (text.strip(), quoted.strip()))), None
    return kept, _quoted_message([own[:first], signed[len(message) :], own[last:], history, _split(quoted)])


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n", _MAX_LINES)


def _quoted_message(removed: Sequence[list[str]]) -> Quoted | None:
    """The quoted message, and its author by the address that the mail program wrote above it. Quotations inside of
    it stay."""
    author = ""
    texts = []
    for lines in removed:
        head, body = _split_history(lines)
        address = _ADDRESS.search(" ".join(head))
        below = next(filter(str.strip, body), "")
        is_header_alone = not below and any(map(_HEADER_BLOCK.match, head))
        if is_header_alone or (address is None and not _is_quoted(below)):
            body = [*filterfalse(_ABOVE_QUOTE.match, head), *body]
        author = author or (address[1] if address else "")
        texts.append("\n".join(_QUOTE_MARK.sub("", line) for line in body).strip())
    content = "\n\n".join(filter(None, texts))
    return Quoted(content, author) if content else None


def _split_history(history: list[str]) -> tuple[list[str], list[str]]:
    """The lines that a mail program wrote above the quoted mail, and the mail."""
    marks = (_SEPARATOR, _RULE, _HEADER_BLOCK, _HEADER_DATE, _HEADER_OTHER)
    lines = _Lines.of(history)
    for index, line in enumerate(history):
        is_mark = not line.strip() or any(mark.match(line) for mark in marks)
        if not is_mark and not _attribution_at(lines, index):
            return history[:index], history[index:]
    return history, []


def _history_start(text: _Lines) -> int:
    """The first line of the conversation that a mail program added below the answer, or the number of lines."""
    lines = text.lines
    for index, line in enumerate(lines):
        is_rule = _RULE.match(line) and _is_header_block(lines, index + 1)
        if index and (_SEPARATOR.match(line) or is_rule or _is_header_block(lines, index)):
            return index
        if span := _attribution_span(text, index):
            end = min(index + span, len(lines))
            continues = _is_quoted(text.following[end]) and text.last_own >= end
            if not continues:  # the sender wrote nothing below the quotation
                return index
    return len(lines)


def _is_header_block(lines: list[str], index: int) -> bool:
    """Return True if the header of a mail begins here: its sender, and its date within the next few fields."""
    if index >= len(lines) or not _HEADER_BLOCK.match(lines[index].strip()):
        return False
    for line in [line.strip() for line in lines[index + 1 : index + 8] if line.strip()][:4]:
        if _HEADER_DATE.match(line):
            return True
        if not _HEADER_OTHER.match(line):
            return False
    return False


def _attribution_span(text: _Lines, index: int) -> int:
    """How many lines an attribution that begins here takes; 0 if none begins."""
    lines = text.lines
    if not text.has_colon[index] or not lines[index].strip() or _is_quoted(lines[index]):
        return 0
    for span in range(1, _ATTRIBUTION_LINES + 1):
        candidate = " ".join(map(str.strip, lines[index : index + span]))
        if len(candidate) > 500:
            return 0
        is_followed = _is_quoted(text.following[min(index + span, len(lines))])
        if _ATTRIBUTION.match(candidate) and (is_followed or _DATED.search(candidate)):
            return span
        if span == 1 and is_followed and _ADDRESSED.match(candidate):
            return span
    return 0


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith(">")


def _without_signature(lines: list[str], delimiters: Sequence[str]) -> list[str]:
    """The lines above the last delimiter, unless more than a signature is below it."""
    for index in range(len(lines) - 1, 0, -1):
        if lines[index] in delimiters:
            filled = sum(bool(line.strip()) for line in lines[index + 1 :])
            return lines[:index] if filled <= _SIGNATURE_LINES else lines
    return lines


def _own_range(text: _Lines) -> tuple[int, int]:
    """The sender's lines, without a quotation above or below them. One in the middle stays, with all above the
    sender's last line, as the answers refer to it."""
    own = [
        index
        for index, line in enumerate(text.lines)
        if line.strip() and not _is_quoted(line) and not _attribution_at(text, index)
    ]
    if not own:
        return 0, len(text.lines)
    first, last = own[0], own[-1]
    is_interleaved = any(_is_quoted(line) for line in text.lines[first:last])
    return 0 if is_interleaved else first, last + 1


def _attribution_at(text: _Lines, index: int) -> bool:
    return any(
        _attribution_span(text, start) > index - start
        for start in range(max(0, index - _ATTRIBUTION_LINES + 1), index + 1)
    )
