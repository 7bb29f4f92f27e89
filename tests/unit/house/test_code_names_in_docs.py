"""The pages that explain the code name what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ("docs/architecture.md", "docs/glossary.md")
FOLDERS = ("domain", "ports", "adapters", "apps")
CODE = re.compile(r"`([\w./]+)`")
CLASS = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")
FOREIGN = {"PostgreSQL"}


@pytest.fixture(scope="module")
def words() -> set[str]:
    """Every identifier of the product, and the names of its files and folders."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return {word for text in texts for word in re.findall(r"\w+", text)}.union(
        *({path.name, path.parent.name} for path in paths)
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_what_the_code_has(page: str, words: set[str]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names = {*CODE.findall(text), *CLASS.findall(text)} - FOREIGN
    missing = [name for name in sorted(names) if not _exists(name, words)]

    assert not missing, f"{page} names what the code does not have: {missing}"


def _exists(name: str, words: set[str]) -> bool:
    if "/" in name:
        return (ROOT / name).exists()
    return name in words or all(part in words for part in name.strip(".").split("."))
