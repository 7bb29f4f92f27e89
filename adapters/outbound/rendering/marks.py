r"""Marks that CommonMark does not know: bare addresses, formulas in LaTeX, footnotes and task lists of GitHub.

Addresses are found before anything in them is taken for emphasis, as in the extended autolinks of GitHub Flavored
Markdown (https://github.github.com/gfm/#autolinks-extension-). Formulas are `\(a_b\)` in a line and `\[a_b\]` on
lines of its own. No platform shows them: they stay as they were written, where CommonMark takes the backslashes for
escapes and the text inside for emphasis.

`[^1]` is shown as `[1]`, and `[^1]: text` as a paragraph that begins with `[1]`, where it stands
(https://docs.github.com/en/get-started/writing-on-github, section Footnotes). A mark without a note, such as
`[^a-z]` in a regular expression, is text. `[ ]` and `[x]` at the beginning of a list item are boxes
(https://github.github.com/gfm/#task-list-items-extension-).
"""

import re

from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

from adapters.outbound.rendering.leftovers import push_paragraph

ADDRESS = re.compile(r"(?<![A-Za-z0-9])https?://[^\s<>`]+", re.IGNORECASE)
"""An address and what stands right after it: an escape there would become part of the address."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
_REST = re.compile(r"://[^\s<>`]+")
_NOT_AT_END = "?!.,:;*_~'\"|"
_PAIRS = {")": "(", "]": "["}
_LONGEST_SCHEME = 6


def bare_address(state: StateInline, silent: bool) -> bool:
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


LONGEST = 2000
"""Characters within which the end of a formula is looked for."""
_CLOSING = {"(": r"\)", "[": r"\]"}
_AFTER_DISPLAYED = re.compile(r"[ \t.,;]*(?:\n|$)")
_SIGNS = re.compile(r"\\[A-Za-z]|[=_{}\n]|[^\s\[]\s*\^")
_INDENT = 4


def formula(state: StateInline, silent: bool) -> bool:
    start, source = state.pos, state.src
    closing = _CLOSING.get(source[start + 1 : start + 2]) if source[start] == "\\" else None
    end = source.find(closing, start + 2, min(state.posMax, start + LONGEST)) if closing else -1
    if end <= start + 2:
        return False
    end += 2
    if closing == r"\]" and not _is_displayed(source, start, end):
        return False
    if not silent:
        for number, line in enumerate(source[start:end].split("\n")):
            if number:
                state.push("softbreak", "br", 0)
            state.push("text", "", 0).content = line
    state.pos = end
    return True


def _is_displayed(source: str, start: int, end: int) -> bool:
    r"""Return True for a formula on lines of its own: `\[1\]` is a bracket that was escaped."""
    before = source[max(0, start - _INDENT) : start].rstrip(" \t")
    is_first = before.endswith("\n") or (not before and start <= _INDENT)
    return bool(
        is_first and _SIGNS.search(source, start + 2, end - 2) and _AFTER_DISPLAYED.match(source, end)
    )


_DEFINITION = re.compile(r"\[\^([^\]\[\s]{1,100})\]:[ \t]*")
_REFERENCE = re.compile(r"\[\^([^\]\[\s]{1,100})\]")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_BOX = re.compile(r"\[([ xX])\](?=\s|$)")
OPEN, DONE = "\N{BALLOT BOX}", "\N{BALLOT BOX WITH CHECK}"
_NOTES = "footnotes"
"""By how much the further lines of a note are indented."""


def footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    definition = _DEFINITION.match(state.src, begin, state.eMarks[start])
    if definition is None or state.is_code_block(start):
        return False
    if silent:
        return True
    state.env.setdefault(_NOTES, set()).add(definition[1])
    first = len(state.tokens)
    # What follows the mark on its line and the indented lines below are blocks.
    before = (state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.level)
    state.bMarks[start], state.tShift[start] = definition.end(), 0
    state.blkIndent += _INDENT
    state.sCount[start] = state.blkIndent
    state.level += 1
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.level = before
    state.line = max(state.line, start + 1)
    # The mark stands before the first paragraph of the note, or before anything else as one of its own.
    mark = _PUNCTUATION.sub(r"\\\1", f"[{definition[1]}]")
    if len(state.tokens) > first and state.tokens[first].type == "paragraph_open":
        inline = state.tokens[first + 1]
        inline.content = f"{mark} {inline.content}"
    else:
        note = state.tokens[first:]
        del state.tokens[first:]
        push_paragraph(state, mark)
        state.tokens.extend(note)
    return True


def footnote_reference(state: StateInline, silent: bool) -> bool:
    reference = _REFERENCE.match(state.src, state.pos, state.posMax)
    if reference is None or reference[1] not in state.env.get(_NOTES, ()):
        return False
    if not silent:
        state.push("text", "", 0).content = f"[{reference[1]}]"
    state.pos = reference.end()
    return True


def tasks(state: StateCore) -> None:
    tokens = state.tokens
    for at in range(2, len(tokens)):
        box = _BOX.match(tokens[at].content) if tokens[at].type == "inline" else None
        if box and tokens[at - 2].type == "list_item_open":
            tokens[at].content = (OPEN if box[1] == " " else DONE) + tokens[at].content[box.end() :]
