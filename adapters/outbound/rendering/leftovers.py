"""Emphasis that CommonMark sees and no writer meant is text.

- Delimiters inside of a word or a number: `2*3*4`, `foo**bar**baz`. CommonMark says so of `_` alone
  (https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis).
- Names such as `__init__`.
- Emphasis nested more than 20 deep, so that trees of spans stay shallow.

Text that CommonMark parsers drop without a word, kept: nothing that a person wrote may get lost.

Lists and quotes nested beyond the parser's limit, definitions of links that nothing refers to (`[Anna]: hello`), and
the cells of a table's row beyond its columns. What stands behind a fence is the first line of the code, unless it is
a language or settings such as `title=x`. An item of a numbered list keeps its number where that is higher than the
next in order.
"""

import re
import unicodedata
from collections.abc import Iterator

from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, emphasis, strikethrough
from markdown_it.token import Token

_RUN = re.compile(r"\*+|~+")
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer; as Chinese and Japanese they are written without spaces between words."""

_NAME = re.compile(
    r"(?<!\w)__(?:"
    r"init|main|name|file|path|doc|dict|class|module|all|new|del|call|repr|str|len|iter|next|contains|eq|lt|gt|hash|bool|"
    r"add|sub|mul|enter|exit|aenter|aexit|await|get|set|getitem|setitem|delitem|getattr|setattr|slots|post_init|"
    r"init_subclass|annotations|version|author|future|builtins|import|pycache|tests|mocks|proto"
    r")__(?!\w)"
)
"""Python's, and a few of JavaScript's."""
_DEEPEST_EMPHASIS = 20
_EMPHASIS = ("strong", "em", "s")


def delimiters_in_words(state: StateInline, silent: bool) -> bool:
    """A delimiter run between letters or digits begins nothing. `**` and `~~` may end there what began at the edge of
    a word (`**API**s`), but `**` not beside a digit. Beside a script without spaces a run may begin and end emphasis
    whatever the punctuation there.
    """
    run = None if silent else _RUN.match(state.src, state.pos, state.posMax)
    if run is None:
        return False
    before = state.src[run.start() - 1] if run.start() else " "
    after = state.src[run.end()] if run.end() < state.posMax else " "
    if _is_unspaced(before) or _is_unspaced(after):
        return _tokenized(state, opens=_flanks(before, after), closes=_flanks(after, before))
    if not (before.isalnum() and after.isalnum()):
        return False
    if _may_close(run.group(), before, after):
        return _tokenized(state, opens=False, closes=True)
    state.pending += run.group()
    state.pos = run.end()
    return True


def _tokenized(state: StateInline, *, opens: bool, closes: bool) -> bool:
    rule = emphasis if state.src[state.pos] == "*" else strikethrough
    first = len(state.delimiters)
    taken: bool = rule.tokenize(state, silent=False)
    for delimiter in state.delimiters[first:]:
        delimiter.open, delimiter.close = opens, closes
    return taken


def _flanks(outside: str, inside: str) -> bool:
    """As CommonMark has it, with scripts without spaces and their punctuation taken for letters inside, and for a
    space outside."""
    if inside.isspace():
        return False
    return inside.isalnum() or _is_unspaced(inside) or not outside.isalnum() or _is_unspaced(outside)


def _is_unspaced(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F") or _NO_SPACES.match(char) is not None


def _may_close(run: str, before: str, after: str) -> bool:
    return len(run) > 1 and (run[0] == "~" or (before.isalpha() and after.isalpha()))


def python_names(state: StateInline, silent: bool) -> bool:
    name = _NAME.match(state.src, state.pos, state.posMax)
    if name is None:
        return False
    if not silent:
        state.pending += name.group()
    state.pos = name.end()
    return True


def emphasis_depth(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            _flatten(token.children)


def _flatten(tokens: list[Token]) -> None:
    depth = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind in _EMPHASIS and depth + (token.nesting < 0) > _DEEPEST_EMPHASIS:
            tokens[at] = Token("text", "", 0, content=token.markup)
        if token.children:
            _flatten(token.children)


_DEEPEST = 16
"""The level from which blocks are paragraphs; one step adds at most two, and the parser's own limit is 20."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}(?:\s.*[={].*)?|\{.*\}")
_PREFIX = re.compile(r"[\s>]*")


def too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.level < _DEEPEST or silent:
        return False
    last = start + 1
    while last < end and not state.isEmpty(last) and state.sCount[last] >= state.blkIndent:
        last += 1
    push_paragraph(state, state.getLines(start, last, state.blkIndent, False).strip())
    state.line = last
    return True


def push_paragraph(state: StateBlock, content: str) -> None:
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content, inline.children = content, []
    state.push("paragraph_close", "p", -1)


def further_cells(state: StateCore) -> None:
    lines: list[str] = []
    row: list[Token] = []
    for token in state.tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token)
        elif token.type == "tr_close" and row and row[0].map:
            lines = lines or state.src.split("\n")
            further = _cells(lines[row[0].map[0]])[len(row) :]
            if further:
                row[-1].content = " | ".join([row[-1].content, *further])


def _cells(line: str) -> list[str]:
    """The cells of a row, escaped as in its source, without the empty ones that its outer bars make."""
    cells = [cell.strip() for cell in escapedSplit(_PREFIX.sub("", line, count=1).rstrip())]
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return cells


def words_behind_fences(state: StateCore) -> None:
    for token in state.tokens:
        info = token.info.strip()
        if token.type == "fence" and info and not _LANGUAGE.fullmatch(info):
            token.content, token.info = f"{info}\n{token.content}", ""


def list_numbers(state: StateCore) -> None:
    following: list[int] = []
    for token in state.tokens:
        if token.type == "ordered_list_open":
            following.append(int(token.attrs.get("start", 1)))
        elif token.type == "ordered_list_close":
            following.pop()
        elif token.type == "list_item_open" and token.info:
            if int(token.info) > following[-1]:
                token.attrSet("value", token.info.lstrip("0"))
            following[-1] = max(following[-1], int(token.info)) + 1


def unused_definitions(state: StateCore) -> None:
    if not any(token.type == "definition" for token in state.tokens):
        return
    used = set(_labels(state.tokens))
    kept: list[Token] = []
    lines = state.src.split("\n")
    for token in state.tokens:
        if token.type != "definition":
            kept.append(token)
        elif token.meta["id"] in used:
            used.discard(token.meta["id"])
        else:
            first, last = token.map or (0, 0)
            source = [_PREFIX.sub("", line, count=1) for line in lines[first:last]]
            source[0] = source[0][source[0].find("[") :]
            text = Token("text", "", 0, content="\n".join(source))
            kept.append(Token("paragraph_open", "p", 1, block=True))
            kept.append(Token("inline", "", 0, content=text.content, children=[text]))
            kept.append(Token("paragraph_close", "p", -1, block=True))
    state.tokens = kept


def _labels(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if "label" in token.meta and token.type in ("link_open", "image"):
            yield token.meta["label"]
        yield from _labels(token.children or [])
