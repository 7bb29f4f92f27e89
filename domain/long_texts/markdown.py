"""Which texts are read as Markdown."""

MOST_MARKDOWN = 50_000
"""Characters. What a parser makes of more would hold the garbage collector, and with it all threads, up."""
MOST_MARKS = 5_000
_MARKS = ("\n", "[", "|", "`", "*", "_", "~", "<", ">", "&", "\\", "$", "- ", "+ ", ". ", ") ", "://")
"""What may begin a block, a list, a cell or a span: the work of parsing and rendering grows with their number."""

MOST_BRACKETS = 2_000
"""Opening ones, for each of which a parser seeks the closing one."""


def is_read_as_markdown(text: str) -> bool:
    """Whether a text is short enough to be formatted. Others are shown as they are written."""
    if len(text) > MOST_MARKDOWN or text.count("[") > MOST_BRACKETS:
        return False
    return sum(map(text.count, _MARKS)) <= MOST_MARKS
