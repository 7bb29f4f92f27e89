"""Finds the line of a key in a rules file, which the TOML parser of the standard library does not tell."""

import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]")
_TRIPLE = re.compile(r'"""|\'\'\'')


@dataclass(slots=True)
class _Section:
    """The lines from one header to the next; line numbers begin at 1."""

    name: str
    line: int
    keys: dict[str, int] = field(default_factory=dict)


class Lines:
    """Where the keys of a document's sections stand. Text inside multi-line strings is passed over."""

    def __init__(self, text: str) -> None:
        self._sections = [_Section("", 1)]
        delimiter: str | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            if delimiter is None:
                self._read(line, number)
            for quotes in _TRIPLE.findall(line):
                if delimiter is None:
                    delimiter = quotes
                elif delimiter == quotes:
                    delimiter = None

    def top(self, name: str) -> int | None:
        """The line of a key or section at the top of the document."""
        lines = [section.line for section in self._sections if section.name.split(".")[0] == name]
        return self._sections[0].keys.get(name) or (lines[0] if lines else None)

    def rule(self, index: int, key: str, tool: int | None = None) -> int | None:
        """The line of a key of a rule, or of one of its tools; of the header where the key is missing."""
        starts = [at for at, section in enumerate(self._sections) if section.name == "rule"]
        if index >= len(starts):
            return self.top("rule")
        end = starts[index + 1] if index + 1 < len(starts) else len(self._sections)
        section, *below = self._sections[starts[index] : end]
        if tool is not None:
            tools = [item for item in below if item.name == "rule.tool"]
            section = tools[tool] if tool < len(tools) else section
        subsection = next((item.line for item in below if item.name == f"{section.name}.{key}"), None)
        return section.keys.get(key) or subsection or section.line

    def _read(self, line: str, number: int) -> None:
        header = _HEADER.match(line)
        if header:
            name = ".".join(part.strip() for part in header[2].split("."))
            self._sections.append(_Section(name, number))
            return
        key = _KEY.match(line)
        if key:
            self._sections[-1].keys.setdefault(key[1], number)
