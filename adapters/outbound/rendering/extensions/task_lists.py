"""Task lists as in GitHub Flavored Markdown (https://github.github.com/gfm/#task-list-items-extension-)."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

_BOX = re.compile(r"\[([ xX])\](?=\s|$)")
OPEN, DONE = "\N{BALLOT BOX}", "\N{BALLOT BOX WITH CHECK}"


def find_tasks(parser: MarkdownIt) -> None:
    """Teaches a parser to show `[ ]` and `[x]` at the beginning of a list item as boxes."""
    parser.core.ruler.after("block", "tasks", _tasks)


def _tasks(state: StateCore) -> None:
    tokens = state.tokens
    for at in range(2, len(tokens)):
        box = _BOX.match(tokens[at].content) if tokens[at].type == "inline" else None
        if box and tokens[at - 2].type == "list_item_open":
            tokens[at].content = (OPEN if box[1] == " " else DONE) + tokens[at].content[box.end() :]
