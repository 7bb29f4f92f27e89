"""One rich document in each markup, in messages of at most 1000, as read and found good by a person.

After a wanted change: `UPDATE_GOLDEN=1 pytest tests/unit/rendering/test_golden.py`, and read the difference.
"""

import os
from pathlib import Path

import pytest

from adapters.outbound.rendering import Markup, render
from domain.channels.model import TextLimit

GOLDEN = Path(__file__).parents[2] / "golden" / "rendering"
CUT = "\n--------------------------------- cut ---------------------------------\n"


@pytest.mark.parametrize("markup", list(Markup))
def test_the_document_looks_as_it_did(markup: Markup) -> None:
    source = (GOLDEN / "document.md").read_text(encoding="utf-8")
    parts = render(markup, source, TextLimit(1000))
    files = {GOLDEN / f"{markup}.txt": CUT.join(part.text for part in parts) + "\n"}
    if markup in (Markup.EMAIL, Markup.TELEGRAM_HTML):
        files[GOLDEN / f"{markup}.fallback.txt"] = CUT.join(part.plain for part in parts) + "\n"

    for path, text in files.items():
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")
