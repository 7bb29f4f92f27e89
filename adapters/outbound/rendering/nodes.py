"""Markdown as a tree of elements for web pages, which a script builds without ever reading HTML."""

from collections.abc import Iterable

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.composing import label, table_of
from adapters.outbound.rendering.parsing import is_safe, parsed, shown
from domain.rendering import is_read_as_markdown
from domain.web_chat.model import plain_nodes

_STYLES = {"strong": "strong", "em": "em", "s": "s"}
_LISTS = {"bullet_list": "ul", "ordered_list": "ol"}


def markdown_nodes(markdown: str) -> list[object]:
    """A list of nodes, each a text or a list of a tag, its attributes, and nodes."""
    if not is_read_as_markdown(markdown):
        return plain_nodes(markdown)
    return _blocks(parsed(markdown)) if markdown.strip() else []


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> list[object]:
    return [block for node in nodes for block in _block(node)]


def _block(node: SyntaxTreeNode) -> list[object]:
    match node.type:
        case "paragraph":
            inner = _inline(node.children[0])
            return inner if node.hidden else [["p", {}, *inner]]
        case "heading":
            return [[node.tag, {}, *_inline(node.children[0])]]
        case "fence" | "code_block":
            language = node.info.split()[0] if node.info.strip() else ""
            return [["pre", {"language": language} if language.isalnum() else {}, node.content]]
        case "blockquote":
            return [["blockquote", {}, *_blocks(node.children)]]
        case "bullet_list" | "ordered_list":
            items = [["li", {}, *_blocks(item.children)] for item in node.children]
            start = int(node.attrs.get("start", 1))
            return [[_LISTS[node.type], {"start": start} if start != 1 else {}, *items]]
        case "table":
            return [_table(node)]
        case "hr":
            return [["hr", {}]]
        case other:
            raise ValueError(f"unknown Markdown block: {other}")


def _table(node: SyntaxTreeNode) -> list[object]:
    table = table_of(node)

    def row(tag: str, cells: Iterable[SyntaxTreeNode]) -> list[object]:
        aligned = zip(cells, table.aligns, strict=True)
        return [
            "tr",
            {},
            *([tag, {"align": align} if align != "left" else {}, *_inline(cell)] for cell, align in aligned),
        ]

    return ["table", {}, row("th", table.header), *(row("td", cells) for cells in table.rows)]


def _inline(node: SyntaxTreeNode) -> list[object]:
    return [part for child in node.children for part in _part(child)]


def _part(node: SyntaxTreeNode) -> list[object]:
    match node.type:
        case "text":
            return [node.content] if node.content else []
        case "softbreak" | "hardbreak":
            return [["br", {}]]
        case "code_inline":
            return [["code", {}, node.content]]
        case "strong" | "em" | "s":
            return [[_STYLES[node.type], {}, *_inline(node)]]
        case "link":
            address = str(node.attrs["href"])
            inner = _inline(node) or [shown(address)]
            for at, part in enumerate(inner):
                if isinstance(part, list) and part[0] == "a":
                    inner[at] = part[2]  # a picture inside a link leads where the link leads
            return _link(address, inner)
        case "image":
            address = str(node.attrs["src"])
            return _link(address, [label(node) or address])
        case other:
            raise ValueError(f"unknown Markdown inline: {other}")


def _link(address: str, inner: list[object]) -> list[object]:
    """A link to the web, to mail or to a telephone; any other address is shown as text."""
    if is_safe(address):
        return [["a", {"href": address}, *inner]]
    return inner if inner == [address] or not address else [*inner, f" ({address})"]
