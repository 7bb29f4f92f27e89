"""A judged collection: documents, queries, and which documents answer which query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OWN = sorted(corpus.parent for corpus in Path(__file__).parent.glob("*/corpus.jsonl"))
"""Small collections of the project's own: codes that nearly collide, misspelt names, short questions, and others."""


@dataclass(frozen=True, slots=True)
class Collection:
    """`documents` and `queries` by id; `relevant` gives for a query the documents and their grades."""

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]

    @classmethod
    def read(cls, folder: Path, documents_of: Path | None = None) -> Collection:
        """Reads corpus.jsonl, queries.jsonl and qrels.tsv (query, document, grade; one line of headings).

        A folder without a corpus asks its queries of the corpus in `documents_of`.
        """
        corpus = folder if (folder / "corpus.jsonl").is_file() else documents_of or folder
        documents = {row["id"]: _text(row) for row in _rows(corpus / "corpus.jsonl")}
        queries = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
        relevant: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
            query, document, grade = line.split("\t")[:3]
            if int(grade) > 0:
                relevant.setdefault(query, {})[document] = int(grade)
        judged = {key: text for key, text in queries.items() if key in relevant}
        return cls(folder.name, documents, judged, relevant)


def _rows(path: Path) -> Sequence[Mapping[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _text(row: Mapping[str, str]) -> str:
    title = row.get("title", "").strip()
    return f"{title}\n\n{row['text']}" if title else row["text"]
