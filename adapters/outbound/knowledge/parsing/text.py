"""Bytes to text, whatever their encoding; text without control characters and OpenPGP armor (RFC 9580, 6.2)."""

import codecs
import re
from collections.abc import Callable, Iterable, Sequence

from charset_normalizer import from_bytes

from adapters.outbound.knowledge.parsing.reading import Job

_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff\ufffe\uffff]")
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_TRAILING = re.compile(r"[ \t]+\n")
_GAPS = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Without control characters, lone surrogates and stray blanks at line ends; newlines are `\\n`."""
    if not text.isprintable():
        text = without_controls(_NEWLINES.sub("\n", text))
        if " \n" in text or "\t\n" in text:
            text = _TRAILING.sub("\n", text)
        text = _GAPS.sub("\n\n", text)
    return text.strip("\n").rstrip()


def without_controls(text: str) -> str:
    """Without the characters that markup libraries refuse: control characters and lone surrogates."""
    text = _CONTROLS.sub("", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def one_line(text: str) -> str:
    """Clean text with every run of white space as one blank."""
    return " ".join(clean(text).split())


def whole_number(text: str | None, default: int) -> int:
    """A number of up to nine digits as markup holds it; anything else is `default`."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else default


_SUPERSETS = {
    "ascii": "",
    "us-ascii": "",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "iso-8859-8-i": "iso-8859-8",
    "unknown-8bit": "",
}
"""Declared charsets and the supersets that they stand for; '' for one that says nothing."""
_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 65_536
_JAPANESE_SHIFT = b"\x1b$B"
_DECLARED_BYTES = 2_048
_CONTROL_BYTES = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 26, 27})
_CONTROLS_SHARE = 0.02
_UTF16_SHARE = 0.3
_KANA_SHARE, _STRANGE_SHARE = 0.25, 0.1

_WESTERN = "äöüß àâçéèêëîïôùûüœæ áéíñóúü¿¡ ãáâàçéêíóôõú åäöéæø àèéìòùí éëïóèüöê þðæöáéíóúý"
_CENTRAL = "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű čćđšž ăâîşţ"
_ALPHABETS = {
    "cp1252": _WESTERN.split(),
    "cp1250": _CENTRAL.split(),
    "iso8859_2": _CENTRAL.split(),
    "cp1254": ["çğıöşüâîû"],
    "cp1257": ["ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"],
}
"""By encoding, the letters beyond ASCII of each of its languages."""
_CYRILLIC = ("cp1251", "koi8-r", "cp866", "iso8859_5")
_CYRILLIC_LETTERS = frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґў")
_FREQUENT_CYRILLIC = frozenset("оеаинтсрвлкі")
_CYRILLIC_SHARE, _FREQUENT_SHARE = 0.8, 0.5
_FEW_PAIRS = 4
_EUC_ROWS = (("euc_jp", 0xA4, 0xA5, 0.3), ("cp949", 0xB0, 0xC8, 0.95), ("gb18030", 0xB0, 0xD7, 0.85))
"""Of each encoding the rows of kana, syllables or frequent ideographs, and the least share of the text in them."""
_RARE = re.compile("[\uff61-\uff9f\ufb50-\ufdff\ufe70-\ufeff\U00020000-\U0010ffff]")
"""Characters that wrong guesses are full of: narrow katakana, presentation forms, rare ideographs."""
_DRAWN = re.compile("[\u2500-\u259f\ufffd]")
"""Lines and boxes, which bytes of other encodings become in those of DOS and Unix."""
_RARE_SHARE = 0.2
_CODE_PAGES = {
    1200: "utf-16-le", 1201: "utf-16-be", 10000: "mac_roman", 10001: "shift_jis", 10006: "mac_greek",
    10007: "mac_cyrillic",
    10029: "mac_latin2", 10081: "mac_turkish", 20127: "ascii", 20866: "koi8_r", 21866: "koi8_u", 28591: "latin-1",
    28592: "iso8859_2", 28595: "iso8859_5", 28597: "iso8859_7", 28605: "iso8859_15", 32768: "mac_roman",
    32769: "cp1252",
    51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030", 65001: "utf-8",
}  # fmt: skip
"""Those whose number is not part of Python's name of them."""
_PUNCTUATION = frozenset("\u2018\u2019“”„«»\u2013—…€£°§·©®™²³½\u00a0\u00ad•¿¡ºª")


def looks_like_text(head: bytes) -> bool:
    """Return True if these first bytes are text in some encoding: few controls, or a known Unicode form."""
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return _unicode_form(head) is not None or controls <= len(head) * _CONTROLS_SHARE


def decode(job: Job, declared: Callable[[bytes], str | None] | None = None) -> str:
    """The whole file as text; `declared` finds the encoding that the first bytes name, if they do.

    Raises `Unreadable` where no encoding fits, `TooLarge` over the limit on text."""
    data = job.path.read_bytes()
    if len(data) > job.limits.text_chars * 4:
        raise job.too_large(f"it holds more than {job.limits.text_chars:,} characters of text")
    text = decoded(data, declared(data[:_DECLARED_BYTES]) if declared else None)
    if text is None:
        raise job.unreadable("its text is in no known encoding")
    if len(text) > job.limits.text_chars:
        raise job.too_large(f"it holds more than {job.limits.text_chars:,} characters of text")
    return text


def as_utf8(data: bytes) -> bytes:
    """Text in UTF-16 or UTF-32 as UTF-8, without its byte order mark; any other bytes as they are."""
    form = _unicode_form(data)
    return data if form is None else data.decode(form, "replace").encode()


def codec(page: int) -> str:
    """Python's name of a Windows code page; the number may be signed, as old files store it."""
    return _CODE_PAGES.get(page & 0xFFFF) or f"cp{page & 0xFFFF}"


def codec_of(charset: str) -> str:
    """Python's name of the charset that a declared one stands for; '' for one that says nothing."""
    return _SUPERSETS.get(charset.strip().lower(), charset)


def decoded(data: bytes, declared: str | None = None) -> str | None:
    """The bytes as text, None if no encoding fits; `declared` is the encoding that they name."""
    # Text in ISO-2022-JP has seven bits, so that UTF-8 would fit.
    shifting = "iso-2022-jp" if _JAPANESE_SHIFT in data[:_SAMPLE_BYTES] else None
    text = _in_first_fitting(data, (_unicode_form(data), shifting, "utf-8", codec_of(declared or "")))
    return _in_first_fitting(data, _guesses(data[:_SAMPLE_BYTES])) if text is None else text


def _in_first_fitting(data: bytes, encodings: Iterable[str | None]) -> str | None:
    for encoding in filter(None, encodings):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None


def _guesses(sample: bytes) -> Sequence[str]:
    """Legacy encodings by likelihood over the first part of a file."""
    guesses = [match.encoding for match in from_bytes(sample) if not _is_rare(str(match))]
    if b"\0" not in sample:  # white space in UTF-16 has zero bytes
        guesses = [encoding for encoding in guesses if not encoding.startswith(("utf_16", "utf_32"))]
    if _is_shift_jis(sample):
        guesses.insert(0, "cp932")
    elif other := _cyrillic_encoding(sample) or _euc_encoding(sample):
        guesses.insert(0, other)
    elif _has_accents(sample) or not guesses or _is_latin(sample.decode(guesses[0], "replace")):
        guesses.insert(0, _latin_encoding(sample) or "cp1252")
    return (*guesses, "cp1252", "latin-1")


def _unicode_form(data: bytes) -> str | None:
    """The Unicode encoding that a byte order mark names, or that zero bytes at every second place betray."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    sample = data[:_SAMPLE_BYTES]
    sample = sample[: len(sample) // 2 * 2]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if half and odd > half * _UTF16_SHARE and not even:
        return "utf-16-le"
    if half and even > half * _UTF16_SHARE and not odd:
        return "utf-16-be"
    return None


def _is_shift_jis(sample: bytes) -> bool:
    """Return True if the text is full of kana under Shift JIS; other encodings make hardly any by chance.

    Guessing by frequency needs more text than a short note has.
    """
    beyond = [char for char in sample.decode("cp932", "replace") if char > "\x7f"]
    kana = sum("\u3041" <= char <= "\u30fe" for char in beyond)
    strange = sum("\uff61" <= char <= "\uff9f" or char == "\ufffd" for char in beyond)
    return kana > len(beyond) * _KANA_SHARE and strange < kana * _STRANGE_SHARE


def _is_rare(text: str) -> bool:
    beyond = sum(not char.isascii() for char in text)
    return len(_RARE.findall(text)) > beyond * _RARE_SHARE


def _cyrillic_encoding(data: bytes) -> str | None:
    """The encoding in which the words beyond ASCII are Cyrillic, written as people write, and have the letters that
    are frequent in these languages; None for other text. Guessing by frequency needs more text than a subject has."""
    best, best_share = None, _CYRILLIC_SHARE
    for encoding in _CYRILLIC:
        text = data.decode(encoding, "replace")
        words = [word for word in re.findall(r"\w+", text) if not word.isascii()]
        letters = sum(map(len, words)) + len(_DRAWN.findall(text))
        natural = [word for word in words if _CYRILLIC_LETTERS.issuperset(word.lower())]
        cased = sum(len(word) for word in natural if word[1:].islower() or word.islower())
        capitals = sum(len(word) for word in natural if word.isupper() and len(word) > 3)
        frequent = sum(map("".join(natural).lower().count, _FREQUENT_CYRILLIC))
        share = (cased + 0.9 * capitals) / max(letters, 1)
        if share > best_share and frequent >= letters * _FREQUENT_SHARE:
            best, best_share = encoding, share
    return best


def _has_accents(data: bytes) -> bool:
    """Return True if the bytes beyond ASCII stand alone and are few, as letters with accents do."""
    runs = re.findall(rb"[\x80-\xff]+", data)
    return len(runs) * 4 < len(data) and all(len(run) == 1 for run in runs)


def _euc_encoding(data: bytes) -> str | None:
    """The encoding of Chinese, Japanese or Korean text in pairs of bytes, by the rows of their tables; None where the
    bytes beyond ASCII do not come in pairs, or stand elsewhere in the tables than common characters do."""
    runs = re.findall(rb"[\x80-\xff]+", data)
    pairs = b"".join(runs)
    if len(pairs) < _FEW_PAIRS * 2 or min(pairs) < 0xA1 or any(len(run) % 2 for run in runs):
        return None
    rows = [lead for lead in pairs[::2] if lead > 0xA3]  # rows before are of signs
    for encoding, first, last, least in _EUC_ROWS:
        if rows and sum(first <= lead <= last for lead in rows) >= least * len(rows):
            return encoding
    return None


def _latin_encoding(data: bytes) -> str | None:
    """The encoding whose decoding fits a language best, or None if no letter outside ASCII fits any.

    General guessing takes French in windows-1252 for Central European windows-1250, for both make letters of
    every byte; no language, though, has ŕ, č and ę at once.
    """
    best, best_share = None, 0.5
    for encoding, alphabets in _ALPHABETS.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        beyond = [char for char in text.lower() if char > "\x7f" and char not in _PUNCTUATION]
        fitting = max(sum(map(alphabet.__contains__, beyond)) for alphabet in alphabets)
        share = fitting / max(len(beyond), 1)
        if share > best_share:
            best, best_share = encoding, share
    return best


def _is_latin(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return bool(letters) and sum(char < "\u0250" for char in letters) > len(letters) * 0.8


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


def _without(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    kept, at = [], 0
    while opening := begin.search(text, at):
        kept.append(text[at : opening.start()])
        closing = end.search(text, opening.end())
        at = closing.end() if closing else len(text)
    return "".join([*kept, text[at:]])


def read_unarmored(job: Job, text: str) -> str:
    """The text of a file without encrypted parts, with a warning of them; refuses one that is nothing else."""
    text, was_encrypted = without_armor(text)
    if was_encrypted:
        job.warn(ENCRYPTED)
        if not text.strip():
            raise job.unreadable("it is encrypted (PGP)")
    return text
