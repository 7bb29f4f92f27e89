"""Reads mail headers that anybody may have written: nothing here raises on hostile input.

Ids of mails and of threads that we open.

A thread that we open has an id of its own in References, in front of the ids of its mails: mail programs repeat it in
each answer (RFC 5322, 3.6.4), so that the session is known before a mail is sent, and stays the same for one person
and subject. Where a program names only the mail that it answers, the id of that mail tells the thread.

Prefixes of subjects that mark a mail as an answer or as forwarded.

They are those of Outlook, Apple Mail, Thunderbird, Lotus Notes and Gmail in their languages. Counts such as `Re[2]:`
and tags such as `[list]` in front follow RFC 5256, 2.1.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from unicodedata import normalize

from adapters.outbound.mail.charsets import decode_bytes

MOST_RECIPIENTS = 5
"""Addresses that one mail has answered: anybody may name any in Reply-To."""
MAX_HEADER = 20_000
"""Characters of a header that are read."""

_TOKEN = re.compile(
    r"=\?[^\s?]+\?[bq]\?[^\s?]*\?="  # an encoded word (RFC 2047), which may contain commas
    r'|"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)|<[^<>]*>|\\.|[^",;:()<>\\=]+|.',
    re.IGNORECASE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,500}>")
_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\\\"]{1,64}@[^\s@<>()\[\],;:\\\"]{1,255}")
_SPACE = re.compile(r"\s+")


def decode(value: str) -> str:
    """A header value as text on one line: RFC 2047 words decoded, without folding and control characters."""
    value = value[:MAX_HEADER]
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError):
        pieces = [(value, None)]
    text = "".join(
        piece if isinstance(piece, str) else decode_bytes(piece, charset or "utf-8")
        for piece, charset in pieces
    )
    return _SPACE.sub(" ", "".join(c if c.isprintable() else " " for c in text)).strip()


def storable(value: str) -> str:
    """Raw bytes, which the parser gives as lone surrogates, as characters of whatever charset; no NUL."""
    if not value.isascii():
        try:
            raw = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raw = value.encode("utf-8", "replace")
        value = decode_bytes(raw, "utf-8")
    return value.replace("\0", "")


@dataclass(frozen=True, slots=True)
class Address:
    """A mail address: the display name decoded, the address as written."""

    name: str
    email: str

    @property
    def domain(self) -> str:
        """The domain, lower-case."""
        return self.email.rpartition("@")[2].lower()


def read_addresses(value: str) -> tuple[Address, ...]:
    """The addresses of a field such as From (RFC 5322, 3.4), read as people mean them.

    The address of an entry is what stands in its last angle brackets, whatever its name looks like; an entry
    without an address is the beginning of the next one's name, which has a comma that is not quoted.
    """
    tokens = _TOKEN.findall(_SPACE.sub(" ", value[:MAX_HEADER]))
    separators = ",;:" if ";" in tokens else ","  # a group ends with a semicolon (RFC 5322, 3.4)
    addresses: list[Address] = []
    before: list[str] = []
    entry: list[str] = []
    for piece in [*tokens, ","]:
        if piece not in separators:
            entry.append(piece)
            continue
        address, name = _read_entry(entry)
        before.append(name)
        if piece == ":":
            before.clear()
        elif address:
            addresses.append(Address(decode(", ".join(filter(None, before))), address))
            before.clear()
        entry = []
    return tuple(addresses) or (() if '"@' in value else _without_brackets(before))


def _without_brackets(names: Sequence[str]) -> tuple[Address, ...]:
    """The one address of a field that has it behind a name without brackets."""
    name, _, last = "".join(names).rpartition(" ")
    is_alone = len(names) == 1 and "@" not in name
    return (Address(decode(name), last),) if is_alone and _bare_address(last) else ()


def _read_entry(tokens: Sequence[str]) -> tuple[str, str]:
    """The address of one entry, '' without one, and its name, which is a comment where it stands nowhere else."""
    bracketed = [_bare_address(token[1:-1]) if token[0] == "<" else "" for token in tokens]
    last = max((index for index, address in enumerate(bracketed) if address), default=None)
    name, comment = _name_and_comment(tokens, last)
    if last is not None:
        return bracketed[last], name or comment
    before, _, rest = name.rpartition("<")  # a bracket that is not closed
    address = "" if any("@" in token for token in tokens if token[0] == '"') else _bare_address(rest)
    return (address, before.strip() or comment) if address else ("", name)


def _name_and_comment(tokens: Sequence[str], address_at: int | None) -> tuple[str, str]:
    words, comments = [], []
    for index, token in enumerate(tokens):
        if token[0] == "(" and len(token) > 1:
            comments.append(_ESCAPED.sub(r"\1", token[1:-1]))
        elif token[0] == '"' and len(token) > 1:
            words.append(_ESCAPED.sub(r"\1", token[1:-1]))
        elif index != address_at:
            words.append(token)
    return "".join(words).strip(), " ".join(comments)


def _bare_address(text: str) -> str:
    """An address without the route or scheme before it, '' for any other text."""
    address = text.rpartition(":")[2].strip()
    return address if _ADDRESS.fullmatch(address) else ""


class Headers:
    """The header fields of one message, in their order; names are case-insensitive."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields = tuple((name.strip().lower(), storable(str(value))) for name, value in fields)

    def all(self, name: str) -> Sequence[str]:
        """The raw values of a field, the topmost first."""
        return [value for field, value in self._fields if field == name.lower()]

    def raw(self, name: str) -> str | None:
        """The raw value of the topmost field of that name."""
        return next(iter(self.all(name)), None)

    def has_any(self, names: Iterable[str]) -> bool:
        return any(self.raw(name) is not None for name in names)

    def text(self, name: str) -> str:
        """The decoded value, '' without the field."""
        return decode(self.raw(name) or "")

    def addresses(self, name: str) -> tuple[Address, ...]:
        """The valid addresses of a field such as From."""
        value = self.raw(name) or ""
        return read_addresses(value) or read_addresses(decode(value))

    def reply_addresses(self) -> tuple[Address, ...]:
        """Whom an answer goes to (RFC 5322, 3.6.2): those of Reply-To, else of From, each once."""
        addresses = self.addresses("Reply-To") or self.addresses("From")
        return tuple({address.email.lower(): address for address in reversed(addresses)}.values())[::-1][
            :MOST_RECIPIENTS
        ]

    def message_ids(self, name: str) -> tuple[str, ...]:
        """The ids of Message-ID, In-Reply-To or References, each with its angle brackets."""
        return tuple(_MESSAGE_ID.findall((self.raw(name) or "")[:MAX_HEADER]))

    def importance(self) -> str:
        """ "high" or "low", as the program of the sender marked the mail (RFC 2156, and X-Priority from 1 to 5); ''
        without a mark."""
        level = self.text("Importance").strip().lower()
        if level in ("high", "low"):
            return level
        return {"1": "high", "2": "high", "4": "low", "5": "low"}.get(self.text("X-Priority").strip()[:1], "")

    def summary(self) -> dict[str, object]:
        """The fields that the record of an event shows."""
        return {
            "subject": self.text("Subject"),
            "date": self.text("Date"),
            "to": [address.email for address in self.addresses("To")],
            "cc": [address.email for address in self.addresses("Cc")],
        }


def session_of(headers: Headers, fallback: str) -> str:
    """The mail thread (RFC 5322, 3.6.4): the first of References, else In-Reply-To, else the mail itself."""
    first = _thread_reference(headers) or next(iter(headers.message_ids("Message-ID")), fallback)
    return opened_thread(first) or first


def opened_session_of(headers: Headers, domain: str) -> str | None:
    """The thread that we opened and to which the mail belongs, None for any other; `domain` is that of its id."""
    return opened_thread(_thread_reference(headers), domain)


def _thread_reference(headers: Headers) -> str:
    return next(iter(headers.message_ids("References") or headers.message_ids("In-Reply-To")), "")


OWN_PREFIX = "switchboard."
"""How the local part of our own ids begins."""
_DIGEST = "[0-9a-f]{40}"
_OPENED = re.compile(
    rf"<{re.escape(OWN_PREFIX)}(?:thread|{_DIGEST})\.(?P<thread>{_DIGEST})@(?P<domain>[^<>\s@]+)>"
)
"""The id of an opened thread, or of a mail in it."""


def thread_id(domain: str, secret: str, to: str, subject: str) -> str:
    """The id of the thread with a person about a subject. `secret` keeps others from guessing it."""
    digest = hmac.digest(secret.encode(), f"{to.lower()}\n{subject}".encode(), "sha256").hex()
    return f"<{OWN_PREFIX}thread.{digest[:40]}@{domain.lower()}>"


def message_id(key: str, own_address: str, references: Iterable[str] = ()) -> str:
    """The Message-ID of a mail: the same at every attempt, and recognisable as ours when it comes back."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:40]
    opened = _OPENED.fullmatch(next(iter(references), ""))
    thread = f".{opened['thread']}" if opened else ""
    return f"<{OWN_PREFIX}{digest}{thread}@{own_address.rpartition('@')[2].strip().lower()}>"


def opened_thread(id: str, domain: str = "") -> str | None:
    """The id of the thread that we opened, found by its own id or by that of a mail in it; None for any other id.
    `domain` is that of the thread's id where it is not the mail's."""
    opened = _OPENED.fullmatch(id)
    return f"<{OWN_PREFIX}thread.{opened['thread']}@{domain or opened['domain']}>" if opened else None


MAX_SUBJECT = 500
"""Characters of the subject of an answer."""

_REPLY = (
    "re|aw|antw|antwort|antwoord|sv|svar|rép|réf|réponse|r|rif|risp|res|resp|odp|odpověď|odpoveď|odg|отг|отв|ответ"
    "|відп|vá|válasz|ynt|απ|σχετ|vast|vastaus|ats|atb|bls|balas|trả lời|răsp"
    "|odgovor|ang|yan\u0131t|hồi đáp|回信"
    "|回复|回覆|回復|答复|答覆|返信|회신|답장|ตอบ|ตอบกลับ|رد|پاسخ|השב|תשובה"
)
_FORWARD = (
    "fw|fwd|wg|tr|trs|rv|enc|vb|vl|doorst|doorgestuurd|wtr|pd|i|ml|továbbítás|ilt|i̇lt|πρθ|пер|пересл|переслано|videresend"
    "|videresendt|vidaresend|vidarebefordrat|proslijeđeno|posredovano|přeposláno|preposlané|redirecționat|persiųsta"
    "|pārsūtīt|edasi|chuyển tiếp|ส่งต่อ|إعادة توجيه|بازارسال|转发|轉寄|轉發|転送|전달|הועבר"
)
"""Without VS, which marks an answer in Finnish and a forwarded mail in Danish."""

_END = r"\.?(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4}))?\s*[:\uff1a\ufe55]"
_TAG = r"(?:\[[^\[\]]{1,100}\]|【[^【】]{1,100}】|\([^()]{1,100}\))"
_LEADING = re.compile(rf"\s*(?:(?P<reply>(?:{_REPLY}){_END})|(?:{_FORWARD}){_END}|{_TAG})", re.IGNORECASE)
_FORWARDED = re.compile(rf"\s*(?:{_TAG}\s*)*(?:{_FORWARD}){_END}", re.IGNORECASE)


def is_forwarded(subject: str) -> bool:
    """Return True if a mail is forwarded, and not an answer to a forwarded one."""
    return bool(_FORWARDED.match(normalize("NFC", subject[:MAX_SUBJECT])))


def reply_subject(subject: str) -> str:
    """The subject with one `Re: ` in front in place of all reply prefixes; forward prefixes and tags stay."""
    rest = normalize("NFC", " ".join(subject.split())[:MAX_SUBJECT])
    kept = ""
    while prefix := _LEADING.match(rest):
        kept += "" if prefix["reply"] else prefix.group()
        rest = rest[prefix.end() :]
    return f"Re: {(kept + rest).strip()}".rstrip()
