"""Names such as `__init__` and `__main__` are text: CommonMark would show `init` in bold, without its signs."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_NAME = re.compile(
    r"(?<!\w)__(?:"
    r"init|main|name|file|path|doc|dict|class|module|all|new|del|call|repr|str|len|iter|next|contains|eq|lt|gt|hash|bool|"
    r"add|sub|mul|enter|exit|aenter|aexit|await|get|set|getitem|setitem|delitem|getattr|setattr|slots|post_init|"
    r"init_subclass|annotations|version|author|future|builtins|import|pycache|tests|mocks|proto"
    r")__(?!\w)"
)
"""Python's, and a few of JavaScript's."""


def keep_python_names(parser: MarkdownIt) -> None:
    """Teaches a parser to show them as they are written."""
    parser.inline.ruler.before("emphasis", "python_names", _names)


def _names(state: StateInline, silent: bool) -> bool:
    found = _NAME.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.pending += found.group()
    state.pos = found.end()
    return True
