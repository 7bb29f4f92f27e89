"""XML: the text of every element and every attribute, in document order."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from adapters.outbound.knowledge.parsing.reading import Job, field_blocks
from adapters.outbound.knowledge.parsing.text import decode, one_line
from domain.knowledge.documents import Block

_TITLES = frozenset({"title", "name"})
_DECLARATION_BYTES = 200


def read(job: Job) -> Iterator[Block]:
    """One block for each record, which is an element without grandchildren.

    It holds "name: text" and "element.attribute: value" lines. Running text with marked-up words in it stays
    together. External entities are not fetched, and internal ones expand within the bounds of the library.
    """
    parser = etree.XMLParser(
        resolve_entities="internal", no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    data = job.path.read_bytes()
    try:
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            if b"encoding=" in data[:_DECLARATION_BYTES]:
                raise
            root = etree.fromstring(decode(job).encode(), parser)  # neither UTF-8 nor declared: guessed
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise job.unreadable(f"it is not well-formed XML: {error.msg}") from error
    job.title = next((_text(child) for child in root if _name(child) in _TITLES), "")
    return _blocks(job, root, 0)


def _blocks(job: Job, element: Any, depth: int) -> Iterator[Block]:
    if depth > job.limits.depth:
        raise job.unreadable(f"it is nested more than {job.limits.depth} levels deep")
    if _is_leaf(element) or all(_is_leaf(child) for child in element):
        parts = [element] if _is_mixed(element) else [element, *element]
        yield from field_blocks(("", line) for part in parts for line in _own_lines(part))
        return
    yield from field_blocks(("", line) for line in _own_lines(element))
    for child in element:
        yield from _blocks(job, child, depth + 1)


def _own_lines(element: Any) -> Iterator[str]:
    name = _name(element)
    yield from _attributes(element)
    if _is_mixed(element):
        for inner in element.iterdescendants():
            yield from _attributes(inner)
        yield f"{name}: {_text(element)}"
    elif text := one_line(element.text or ""):
        yield f"{name}: {text}"


def _attributes(element: Any) -> Iterator[str]:
    for key, value in element.attrib.items():
        if value.strip():
            yield f"{_name(element)}.{etree.QName(key).localname}: {one_line(value)}"


def _is_leaf(element: Any) -> bool:
    return len(element) == 0 or _is_mixed(element)


def _is_mixed(element: Any) -> bool:
    """Running text with marked-up words in it."""
    return len(element) > 0 and (
        bool((element.text or "").strip()) or any((c.tail or "").strip() for c in element)
    )


def _text(element: Any) -> str:
    return one_line("".join(element.itertext()))


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else "entity"
