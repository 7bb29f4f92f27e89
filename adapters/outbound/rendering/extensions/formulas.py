r"""Formulas in LaTeX, as models write them: `\(a_b\)` in a line, `\[a_b\]` on lines of its own.

No platform shows them as formulas. They stay as they were written, where CommonMark takes the backslashes for escapes
and what is inside for emphasis.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

LONGEST = 2000
"""Characters within which the end of a formula is looked for."""
_CLOSING = {"(": r"\)", "[": r"\]"}
_AFTER_DISPLAYED = re.compile(r"[ \t.,;]*(?:\n|$)")
_SIGNS = re.compile(r"\\[A-Za-z]|[=_{}\n]|[^\s\[]\s*\^")
_INDENT = 4


def find_formulas(parser: MarkdownIt) -> None:
    """Teaches a parser to leave formulas alone."""
    parser.inline.ruler.before("escape", "formula", _formula)


def _formula(state: StateInline, silent: bool) -> bool:
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
