"""Removes the quoted conversation and the signature from a plain-text mail; forwarded mail stays."""

import re
from itertools import takewhile

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
_HEADER_NEXT = re.compile(
    r"^\*?(?:Sent|Gesendet|Envoyé|Enviado(?: el)?|Inviato|Verzonden|Date|Datum|To|An|À|Para)\s?:\*?\s",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"^\*?(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Cc)\s?:\*?\s", re.IGNORECASE)
_ADDRESS = re.compile(r"<(?:mailto:)?([^<>\s@]+@[^<>\s]+)>")
_QUOTE_MARK = re.compile(r"^\s*> ?")
_DEVICE = re.compile(
    r"^\s*(?:Sent from (?:my|mail|outlook|yahoo|samsung|proton|gmail)\b|Get Outlook for\b|"
    r"Von meinem\b.{1,40}\bgesendet|Gesendet (?:von|mit)\b|Holen Sie sich Outlook\b|"
    r"Envoyé (?:de mon|depuis|à partir)\b|Obtenir Outlook\b|Enviado (?:desde|do meu)\b|Obtener Outlook\b|"
    r"Inviato da\b|Verstuurd vanaf\b|Verzonden vanaf\b).{0,60}$",
    re.IGNORECASE,
)
"""The line that phones and mail programs add below a mail."""
_ATTRIBUTION_LINES = 3
"""Over how many lines an attribution may be wrapped."""


def own_text(text: str, *, forwarded: bool = False) -> str:
    """What the sender wrote: without the quotation, its attribution line and the signature.

    A quotation with answers between its lines stays, as the answers refer to it. A mail that is nothing but
    quotation is returned whole, and so is a forwarded one (`forwarded`: by its subject).
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if forwarded:
        return "\n".join(lines).strip()
    end = _history_start(lines)
    forward_at = next((index for index, line in enumerate(lines[:end]) if _FORWARD.match(line)), None)
    own, forward = (lines[:end], []) if forward_at is None else (lines[:forward_at], lines[forward_at:])
    own = _without_device_line(_without_quotes(_without_signature(own)))
    sections = ("\n".join(section).strip() for section in (own, forward))
    return "\n\n".join(filter(None, sections)) or text.strip()


def quoted_in(text: str) -> Quoted | None:
    """The mail that was answered, as far as it is quoted below the answer or above it; its author by the address that
    the mail program wrote above it. Quotations inside of it stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = _history_start(lines)
    if start == len(lines):
        start = next((index for index, line in enumerate(lines) if _quoted(line)), len(lines))
        while start and _attribution_at(lines, start - 1):
            start -= 1
    head, body = _split_history(lines[start:])
    address = _ADDRESS.search(" ".join(head))
    content = "\n".join(_QUOTE_MARK.sub("", line) for line in body).strip()
    return Quoted(content, address[1] if address else "") if content else None


def _split_history(history: list[str]) -> tuple[list[str], list[str]]:
    """The lines that a mail program wrote above the quoted mail, and the mail: all of it, or what is marked."""
    head = next((index for index in range(len(history)) if not _is_head(history, index)), len(history))
    body = history[head:]
    if body and _quoted(next(filter(str.strip, body), "")):
        body = list(takewhile(lambda line: _quoted(line) or not line.strip(), body))
    return history[:head], body


def _is_head(history: list[str], index: int) -> bool:
    line = history[index]
    marks = (_SEPARATOR, _RULE, _HEADER_BLOCK, _HEADER_NEXT, _SUBJECT)
    return not line.strip() or any(mark.match(line) for mark in marks) or _attribution_at(history, index)


def _history_start(lines: list[str]) -> int:
    """The first line of the conversation that a mail program added below the answer, or the number of lines."""
    for index, line in enumerate(lines):
        if index and (_SEPARATOR.match(line) or (_RULE.match(line) and _header_block(lines, index + 1))):
            return index
        if index and _header_block(lines, index):
            return index
        span = _attribution_span(lines, index)
        if span and not _continues_after(lines, index + span):
            return index
    return len(lines)


def _header_block(lines: list[str], index: int) -> bool:
    block = [line.strip() for line in lines[index : index + 4] if line.strip()]
    return len(block) >= 2 and bool(_HEADER_BLOCK.match(block[0]) and _HEADER_NEXT.match(block[1]))


def _attribution_span(lines: list[str], index: int) -> int:
    """How many lines an attribution that begins here takes; 0 for none."""
    if not lines[index].strip() or lines[index].lstrip().startswith(">"):
        return 0
    for span in range(1, _ATTRIBUTION_LINES + 1):
        candidate = " ".join(line.strip() for line in lines[index : index + span])
        if len(candidate) > 500:
            return 0
        if _ATTRIBUTION.match(candidate):
            return span
        if span == 1 and _ADDRESSED.match(candidate) and _quotation_follows(lines, index + span):
            return span
    return 0


def _quotation_follows(lines: list[str], index: int) -> bool:
    return _quoted(next(filter(str.strip, lines[index:]), ""))


def _continues_after(lines: list[str], index: int) -> bool:
    """Whether the sender's text continues below a quotation that is marked with '>'."""
    rest = [line for line in lines[index:] if line.strip()]
    return bool(rest) and rest[0].lstrip().startswith(">") and any(not _quoted(line) for line in rest)


def _quoted(line: str) -> bool:
    return line.lstrip().startswith(">")


def _without_signature(lines: list[str]) -> list[str]:
    for index, line in enumerate(lines):
        if index and line in {"-- ", "--"}:
            return lines[:index]
    return lines


def _without_device_line(lines: list[str]) -> list[str]:
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and _DEVICE.match(lines[filled[-1]]):
        return lines[: filled[-1]]
    return lines


def _without_quotes(lines: list[str]) -> list[str]:
    """Removes a quotation above or below the sender's text. One in the middle stays, with all above the sender's last
    line, as the answers refer to it."""
    own = [
        index
        for index, line in enumerate(lines)
        if line.strip() and not _quoted(line) and not _attribution_at(lines, index)
    ]
    if not own:
        return lines
    first, last = own[0], own[-1]
    interleaved = any(_quoted(line) for line in lines[first:last])
    return lines[0 if interleaved else first : last + 1]


def _attribution_at(lines: list[str], index: int) -> bool:
    return any(
        _attribution_span(lines, start) > index - start
        for start in range(max(0, index - _ATTRIBUTION_LINES + 1), index + 1)
    )
