"""Footnotes and task lists of GitHub Flavored Markdown.

`[^1]` is shown as `[1]`, and `[^1]: text` as a paragraph that begins with `[1]`, where it stands.

After https://docs.github.com/en/get-started/writing-on-github (section Footnotes). A mark without a note, such as
`[^a-z]` in a regular expression, is text. `[ ]` and `[x]` at the beginning of a list item are boxes
(https://github.github.com/gfm/#task-list-items-extension-).
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

_DEFINITION = re.compile(r"\[\^([^\]\[\s]{1,100})\]:[ \t]*")
_REFERENCE = re.compile(r"\[\^([^\]\[\s]{1,100})\]")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_BOX = re.compile(r"\[([ xX])\](?=\s|$)")
OPEN, DONE = "\N{BALLOT BOX}", "\N{BALLOT BOX WITH CHECK}"
_NOTES = "footnotes"
_INDENT = 4
"""By how much the further lines of a note are indented."""


def find_github_marks(parser: MarkdownIt) -> None:
    """Teaches a parser to read footnotes and task lists."""
    parser.block.ruler.before("reference", "footnote", _definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "footnote_reference", _reference)
    parser.core.ruler.after("block", "tasks", _tasks)


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    definition = _DEFINITION.match(state.src, begin, state.eMarks[start])
    if definition is None or state.is_code_block(start):
        return False
    if silent:
        return True
    state.env.setdefault(_NOTES, set()).add(definition[1])
    first = len(state.tokens)
    _read_note(state, start, end, definition.end())
    _mark(state, first, definition[1])
    return True


def _read_note(state: StateBlock, start: int, end: int, begin: int) -> None:
    """Reads what follows the mark on its line and the indented lines below as blocks."""
    before = (state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.level)
    state.bMarks[start], state.tShift[start] = begin, 0
    state.blkIndent += _INDENT
    state.sCount[start] = state.blkIndent
    state.level += 1
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.level = before
    state.line = max(state.line, start + 1)


def _mark(state: StateBlock, first: int, label: str) -> None:
    """Puts the mark before the first paragraph of the note, or before anything else as one of its own."""
    mark = _PUNCTUATION.sub(r"\\\1", f"[{label}]")
    if len(state.tokens) > first and state.tokens[first].type == "paragraph_open":
        inline = state.tokens[first + 1]
        inline.content = f"{mark} {inline.content}"
        return
    note = state.tokens[first:]
    del state.tokens[first:]
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content, inline.children = mark, []
    state.push("paragraph_close", "p", -1)
    state.tokens.extend(note)


def _reference(state: StateInline, silent: bool) -> bool:
    reference = _REFERENCE.match(state.src, state.pos, state.posMax)
    if reference is None or reference[1] not in state.env.get(_NOTES, ()):
        return False
    if not silent:
        state.push("text", "", 0).content = f"[{reference[1]}]"
    state.pos = reference.end()
    return True


def _tasks(state: StateCore) -> None:
    tokens = state.tokens
    for at in range(2, len(tokens)):
        box = _BOX.match(tokens[at].content) if tokens[at].type == "inline" else None
        if box and tokens[at - 2].type == "list_item_open":
            tokens[at].content = (OPEN if box[1] == " " else DONE) + tokens[at].content[box.end() :]
