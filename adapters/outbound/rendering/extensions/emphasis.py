"""Emphasis that CommonMark sees and no writer meant is text.

- Delimiters inside of a word or a number: `2*3*4`, `foo**bar**baz`. CommonMark says so of `_` alone
  (https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis).
- Names such as `__init__`.
- Emphasis nested more than 20 deep, so that trees of spans stay shallow.
"""

import re
import unicodedata

from markdown_it import MarkdownIt
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
_DEEPEST = 20
_EMPHASIS = ("strong", "em", "s")


def limit_emphasis(parser: MarkdownIt) -> None:
    """Teaches a parser which delimiters are text.

    A delimiter run between letters or digits begins nothing. `**` and `~~` may end there what began at the edge of a
    word (`**API**s`), but `**` not beside a digit. Beside a script without spaces a run may begin and end emphasis
    whatever the punctuation there.
    """
    parser.inline.ruler.before("strikethrough", "delimiters_in_words", _delimiters_in_words)
    parser.inline.ruler.before("emphasis", "python_names", _python_names)
    parser.core.ruler.push("emphasis_depth", _emphasis_depth)


def _delimiters_in_words(state: StateInline, silent: bool) -> bool:
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


def _python_names(state: StateInline, silent: bool) -> bool:
    name = _NAME.match(state.src, state.pos, state.posMax)
    if name is None:
        return False
    if not silent:
        state.pending += name.group()
    state.pos = name.end()
    return True


def _emphasis_depth(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            _flatten(token.children)


def _flatten(tokens: list[Token]) -> None:
    depth = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind in _EMPHASIS and depth + (token.nesting < 0) > _DEEPEST:
            tokens[at] = Token("text", "", 0, content=token.markup)
        if token.children:
            _flatten(token.children)
