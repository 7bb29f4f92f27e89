"""Markdown (CommonMark with tables and strikethrough): rendered to HTML, then read as that."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from adapters.outbound.knowledge.parsing.readers.html import read_markup
from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.text import decode, read_unarmored, without_controls
from domain.knowledge.documents import Block

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)


def read(job: Job) -> Iterator[Block]:
    """Headings, paragraphs, list items, table rows and code; front matter as lines of its own."""
    text = read_unarmored(job, without_controls(decode(job)).replace("\r\n", "\n"))
    front = _FRONT_MATTER.match(text)
    if front:
        title_line = _TITLE.search(front[1])
        job.title = title_line[1].strip("\"' ") if title_line else ""
        text = f"```\n{front[1]}\n```\n\n{text[front.end() :]}"
    renderer = MarkdownIt("commonmark", {"maxNesting": job.limits.depth}).enable(["table", "strikethrough"])
    tokens = renderer.parse(text)
    if max((token.level for token in tokens), default=0) >= job.limits.depth - 1:
        raise job.unreadable("it is nested too deeply")  # what lies deeper is left out by the renderer
    return read_markup(job, str(renderer.renderer.render(tokens, renderer.options, {})))
