"""Addresses of links whose label alone is shown."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, islice

MOST_LINKS = 50
"""Links of one message that are looked for in the first LONGEST_TEXT characters of its plain text."""
LONGEST_TEXT = 50_000
LONGEST_LABEL = 300
_TOKEN = re.compile(r"\w+|[^\w\s]")
_SCHEME = re.compile(r"^(?:mailto|tel):", re.IGNORECASE)
_END_OF_ADDRESS = r"/?(?![\w/?#&=%~+@:-]|\.\w)"
_USEFUL = ("http://", "https://", "mailto:", "tel:", "tg://")


def address_behind(label: str, href: str) -> str:
    """What stands behind the label of a link: its address in brackets, or the address alone where there is no label.
    Empty where the label shows the address, or where it is of no use outside of the message."""
    address, label = _SCHEME.sub("", href), label.strip()
    shown = (address.rstrip("/"), address.partition("://")[2].rstrip("/"))
    if not href.lower().startswith(_USEFUL) or label.rstrip("/") in shown:
        return ""
    return f" ({address})" if label else address


def _missing(text: str, links: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Labels and addresses of the links whose address is not in the text, or only as the beginning of another one."""
    missing = []
    for label, href in islice(links, MOST_LINKS):
        behind = address_behind(label, href)
        address = behind.removeprefix(" (").removesuffix(")" if behind.startswith(" (") else "").rstrip("/")
        if behind and not (address in text and re.search(re.escape(address) + _END_OF_ADDRESS, text)):
            missing.append((label.strip(), behind))
    return missing


def with_addresses(text: str, links: Iterable[tuple[str, str]], *, complete: bool = False) -> str:
    """The text with the addresses of links, of which it has the labels alone. `links` are labels and addresses in
    the order of the text; white space of a label may differ. `complete`: links whose label is not in the text stand
    below it, such as one around a picture."""
    missing = _missing(text, links)
    if not missing:
        return text
    tokens = list(_TOKEN.finditer(text, 0, LONGEST_TEXT))
    spaced = f" {' '.join(token[0] for token in tokens)} "
    spaced_ends = list(accumulate(len(token[0]) + 1 for token in tokens))
    pieces, position, spaced_position = [], 0, 0
    below: list[str] = []
    for label, behind in missing:
        end = -1
        if 0 < len(label) <= LONGEST_LABEL:
            spaced_label = f" {' '.join(_TOKEN.findall(label))} "
            start = spaced.find(spaced_label, spaced_position)
            if start >= 0:
                end = tokens[bisect_left(spaced_ends, start + len(spaced_label) - 1)].end()
            else:  # within a word: scripts without spaces
                start = text.find(label, position, LONGEST_TEXT)
                end = start + len(label) if start >= 0 else -1
        if end >= 0:
            pieces += [text[position:end], behind]
            position = end
            spaced_position = spaced_ends[bisect_left(tokens, end, key=re.Match.end)]
        else:
            below.append(f"{label[:LONGEST_LABEL]}{behind}")
    shown = "".join(pieces) + text[position:]
    return "\n".join((shown, *dict.fromkeys(below))) if complete else shown
