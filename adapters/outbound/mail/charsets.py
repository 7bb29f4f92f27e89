"""Bytes of mails as text, whatever charset they declare; nothing here raises on hostile input."""

from __future__ import annotations

import re

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
_WESTERN = "cp1252"
_META = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_WITHIN = 2048
_ESCAPE = re.compile(rb"\x1b(\$[@B]|\([BIJ])")
_KANJI, _KATAKANA = (b"$@", b"$B"), b"(I"


def decode_bytes(data: bytes, charset: str) -> str:
    """Bytes as text in a declared charset; a wrong or unknown one costs single characters, never the text.
    Where none is declared ('') it is UTF-8, or else Western European; and where Western European is declared of
    what is good UTF-8, it is that.

    Charsets stand for their supersets as in https://encoding.spec.whatwg.org/#names-and-labels.
    """
    label = charset.strip().lower()
    if label == "iso-2022-jp":
        return _iso_2022_jp(data)
    name = _SUPERSETS.get(label, charset)
    for each in ("utf-8", name) if name == _WESTERN else (name, "utf-8"):
        try:
            return data.decode(each)
        except (LookupError, UnicodeError, ValueError):
            continue
    return _declared_or_western(data, name)


def _declared_or_western(data: bytes, name: str) -> str:
    try:
        return data.decode(name, "replace")
    except (LookupError, UnicodeError, ValueError):
        return data.decode(_WESTERN, "replace")


def charset_of_html(data: bytes) -> str:
    """The charset that an HTML document names itself, '' for none."""
    found = _META.search(data[:_META_WITHIN])
    return found[1].decode("ascii") if found else ""


def _iso_2022_jp(data: bytes) -> str:
    """With the characters of NEC and the narrow katakana, which mail programs write and the standard lacks
    (https://encoding.spec.whatwg.org/#iso-2022-jp-decoder)."""
    first, *rest = _ESCAPE.split(data)
    out = [decode_bytes(first, "")]
    for mode, run in zip(rest[::2], rest[1::2], strict=True):
        if mode in _KANJI:
            out.append(_kanji(run))
        elif mode == _KATAKANA:
            out.append(
                bytes(byte | 0x80 if 0x21 <= byte <= 0x5F else byte for byte in run).decode(
                    "cp932", "replace"
                )
            )
        else:
            out.append(decode_bytes(run, ""))
    return "".join(out)


def _kanji(run: bytes) -> str:
    """Pairs of seven bits as Shift_JIS counts them; line breaks between them stand for themselves."""
    out = bytearray()
    at = 0
    while at < len(run):
        pair = run[at : at + 2]
        if len(pair) == 2 and all(0x21 <= byte <= 0x7E for byte in pair):
            row, cell = pair
            lead = ((row - 0x21) >> 1) + 0x81
            trail = cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)
            out += bytes((lead if lead <= 0x9F else lead + 0x40, trail))
            at += 2
        else:
            out.append(run[at])
            at += 1
    return out.decode("cp932", "replace")
