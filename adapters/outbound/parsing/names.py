"""File names as messages show them, and labels of formats."""

from domain.knowledge.documents import Format

LABELS: dict[Format, str] = {
    **{kind: kind.value.upper() for kind in Format},
    Format.MARKDOWN: "Markdown",
    Format.WEBP: "WebP",
    Format.TXT: "plain text",
    Format.EML: "mail message",
    Format.MSG: "Outlook message",
}

_SHOWN_CHARS = 200


def shown(file_name: str) -> str:
    """The name as messages show it: its last path segment, printable, of bearable length."""
    last = file_name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in last)
    return printable[-_SHOWN_CHARS:].strip() or "unnamed file"


def extension(file_name: str) -> str:
    """Lower case, without the dot; empty where there is none."""
    stem, dot, ending = shown(file_name).rpartition(".")
    return ending.lower() if dot and stem else ""


def stem(file_name: str) -> str:
    name = shown(file_name)
    return name[: -len(extension(name)) - 1] if extension(name) else name
