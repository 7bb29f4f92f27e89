"""Addresses that stand in a text as they are: found before anything in them is taken for emphasis.

As in the extended autolinks of GitHub Flavored Markdown (https://github.github.com/gfm/#autolinks-extension-).
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

ADDRESS = re.compile(r"(?<![A-Za-z0-9])https?://[^\s<>`]+", re.IGNORECASE)
"""An address and what stands right after it: an escape there would become part of the address."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
_REST = re.compile(r"://[^\s<>`]+")
_NOT_AT_END = "?!.,:;*_~'\"|"
_PAIRS = {")": "(", "]": "["}
_LONGEST_SCHEME = 6


def find_addresses(parser: MarkdownIt) -> None:
    """Teaches a parser to make links of bare addresses."""
    parser.inline.ruler.before("escape", "bare_address", _bare_address)


def _bare_address(state: StateInline, silent: bool) -> bool:
    rest = _REST.match(state.src, state.pos, state.posMax)
    scheme = _SCHEME.search(state.pending[-_LONGEST_SCHEME:]) if rest and not state.linkLevel else None
    if rest is None or scheme is None:
        return False
    address = scheme.group() + _trimmed(rest.group())
    added = len(address) - len(scheme.group())
    if added <= len("://"):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme.group())]
        opening = state.push("link_open", "a", 1)
        opening.attrs = {"href": address}
        opening.info = "auto"
        state.push("text", "", 0).content = address
        state.push("link_close", "a", -1).info = "auto"
    state.pos += added
    return True


def _trimmed(rest: str) -> str:
    """Without the punctuation at the end, and the brackets that were not opened inside."""
    unpaired = {closing: rest.count(closing) - rest.count(opening) for closing, opening in _PAIRS.items()}
    end = len(rest)
    while end:
        last = rest[end - 1]
        if unpaired.get(last, 0) > 0:
            unpaired[last] -= 1
        elif last not in _NOT_AT_END:
            break
        end -= 1
    return rest[:end]
