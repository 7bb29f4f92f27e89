"""Decodes the bytes of mails, whatever charset they declare; nothing here raises on hostile input."""

import codecs
import contextlib
import re

from adapters.outbound.knowledge.parsing.text import codec_of, decoded

_WESTERN = "cp1252"
_PIECEWISE = "switchboard.western"
"""The name of the error handler that reads as Western European what is no UTF-8."""
_FEW_LETTERS = 6
_MOST_BROKEN = 5
"""Wrong bytes for each character of UTF-8 in a mixed text: in other charsets pairs of bytes are seldom UTF-8."""
_AFTER_LATIN = "\u0250"
_PUNCTUATION = "\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026\u20ac\u2022"
_META = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_WITHIN = 2048
_ESCAPE = re.compile(rb"\x1b(\$[@B]|\([BIJ])")
_SHIFTED = re.compile(rb"\x1b\$[@B]")
_PAIR = re.compile(rb"[\x21-\x7e]{2}")
"""A character in seven bits; other bytes, such as line breaks, stand for themselves."""
_KANJI, _KATAKANA = (b"$@", b"$B"), b"(I"


def decode_bytes(data: bytes, charset: str) -> str:
    """The text of bytes in a declared charset. If it is empty, unknown or wrong, the charset is UTF-8 if the
    bytes are valid in it, else it is guessed by the language; valid UTF-8 that is declared as Western European is
    UTF-8.

    Charsets stand for their supersets as in https://encoding.spec.whatwg.org/#names-and-labels.
    """
    label = charset.strip().lower()
    if label == "iso-2022-jp" or (not label.startswith("iso-2022") and _SHIFTED.search(data)):
        return _iso_2022_jp(data)
    name = codec_of(charset)
    for encoding in ("utf-8", name) if name == _WESTERN else (name, "utf-8"):
        try:
            text = data.decode(encoding)
        except (LookupError, UnicodeError, ValueError):
            continue
        return _guessed(data, "") if encoding == _WESTERN and _is_hardly_western(text) else text
    return _guessed(data, name)


def _is_hardly_western(text: str) -> bool:
    """Letters with accents are the fewest of a text, unless it is in another charset than it says."""
    letters = [char for char in text if char.isalpha()]
    beyond = sum(not char.isascii() for char in letters)
    return beyond >= _FEW_LETTERS and beyond * 2 > len(letters)


def _guessed(data: bytes, charset: str) -> str:
    """Text that is in another charset than the declared one. A few wrong bytes in a text of several bytes for each
    character are damage, not another charset; in a text of Western Europe they are of a part that was never
    converted."""
    if charset.lower() in ("", "utf-8", "utf8") and _is_mixed(data):
        return data.decode("utf-8", _PIECEWISE)
    with contextlib.suppress(LookupError, UnicodeError, ValueError):
        text = data.decode(charset or "utf-8", "replace")
        if text.count("\ufffd") * 10 < sum(not char.isascii() for char in text):
            return text
    return decoded(data) or data.decode(_WESTERN, "replace")


def _is_mixed(data: bytes) -> bool:
    """Return True if the bytes are UTF-8 in part, and Western European in the rest."""
    text = data.decode("utf-8", "replace")
    valid = [char for char in text if not char.isascii() and char != "\ufffd"]
    western = sum(char < _AFTER_LATIN or char in _PUNCTUATION for char in valid)
    return 0 < text.count("\ufffd") <= _MOST_BROKEN * len(valid) and western == len(valid)


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """An error handler of `bytes.decode`."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode(_WESTERN, "replace"), error.end


codecs.register_error(_PIECEWISE, _as_western)


def charset_of_html(data: bytes) -> str:
    """The charset that an HTML document declares, '' for none."""
    meta = _META.search(data[:_META_WITHIN])
    return meta[1].decode("ascii") if meta else ""


def _iso_2022_jp(data: bytes) -> str:
    """With the characters of NEC and the narrow katakana, which mail programs write and the standard lacks
    (https://encoding.spec.whatwg.org/#iso-2022-jp-decoder)."""
    first, *rest = _ESCAPE.split(data)
    texts = [decode_bytes(first, "")]
    for mode, run in zip(rest[::2], rest[1::2], strict=True):
        if mode in _KANJI:
            texts.append(_PAIR.sub(_shift_jis, run).decode("cp932", "replace"))
        elif mode == _KATAKANA:
            katakana = bytes(byte | 0x80 if 0x21 <= byte <= 0x5F else byte for byte in run)
            texts.append(katakana.decode("cp932", "replace"))
        else:
            texts.append(decode_bytes(run, ""))
    return "".join(texts)


def _shift_jis(pair: re.Match[bytes]) -> bytes:
    """The two bytes of a character in Shift_JIS."""
    row, cell = pair[0]
    lead = ((row - 0x21) >> 1) + 0x81
    trail = cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)
    return bytes((lead if lead <= 0x9F else lead + 0x40, trail))
