"""The embedding model: what it costs to start, what identifies it, that it does what it should."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.embedding import model_files, sentence
from adapters.outbound.embedding.model_files import ModelFiles
from adapters.outbound.embedding.sentence import BATCH, SentenceEmbedder
from domain.refusals import Unavailable
from ports.embedding import DIMENSION

ROOT = Path(__file__).parents[3]


def test_importing_the_apps_loads_no_model_library() -> None:
    code = (
        "import sys, apps.cli, apps.container, apps.standalone.main, apps.worker.main, apps.grpc_server.main;"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'unstructured')"
        " if name in sys.modules])"
    )
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'proto' / 'gen'}", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=paths, cwd=ROOT)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


async def test_the_packaged_model_is_known_by_its_weights() -> None:
    model = await SentenceEmbedder(ModelFiles()).model()
    assert (model.name, model.dimension, model.latin_only) == ("all-MiniLM-L6-v2", DIMENSION, True)
    assert model.fingerprint == "all-MiniLM-L6-v2:384:53aa51172d142c89"


def test_tokens_are_counted_without_a_limit() -> None:
    files = ModelFiles()
    assert files.count_tokens("hello world") == 2
    assert files.count_tokens("hello " * 1000) == 1000
    assert files.count_tokens("") == 0


@pytest.mark.parametrize("remembered", [200_000, 3], ids=["words remembered", "words forgotten"])
def test_tokens_are_counted_as_the_tokenizer_does(monkeypatch: pytest.MonkeyPatch, remembered: int) -> None:
    monkeypatch.setattr(model_files, "REMEMBERED_WORDS", remembered)
    files = ModelFiles()
    tokenizer = files.load_tokenizer()
    for text in (
        "The pump (INV-2024-00317) isn't serviced; see https://example.org/a_b?c=1 ...",
        "naïve Müller\u2019s \u201cÜberprüfung\u201d \u2014 \ufb01ne",
        "图书馆位于三楼。编号为ERR-4711的错误 Ошибка خطأ",
        "tabs\tand\nlines \u00a0 and\u3000wide blanks",
        "x" * 300 + " the the the",
    ):
        assert files.count_tokens(text) == len(tokenizer.encode(text, add_special_tokens=False).ids)


def a_folder(path: Path, **config: Any) -> Path:
    (path / "tokenizer.json").write_text("{}")
    (path / "config.json").write_text(json.dumps(config))
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_a_folder_of_another_model(tmp_path: Path) -> None:
    model = ModelFiles(a_folder(tmp_path, hidden_size=384), multilingual=True).model
    assert model.name == tmp_path.name
    assert not model.latin_only
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert ModelFiles(tmp_path).model.fingerprint != model.fingerprint


def test_folders_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"tokenizer\.json"):
        _ = ModelFiles(tmp_path).model
    with pytest.raises(Unavailable, match="768 dimensions"):
        _ = ModelFiles(a_folder(tmp_path, hidden_size=768)).model
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(Unavailable, match="weights"):
        _ = ModelFiles(tmp_path).model


class Fake(SentenceEmbedder):
    """Counts what is embedded instead of embedding it."""

    def __init__(self) -> None:
        super().__init__(ModelFiles())
        self.batches: list[list[str]] = []

    def encode(self, texts: list[str], is_query: bool) -> list[Sequence[float]]:
        self.batches.append(texts)
        return [[float(len(text))] for text in texts]


async def test_a_query_is_embedded_once() -> None:
    embedder = Fake()
    assert await embedder.embed_query("same") == await embedder.embed_query("same")
    assert embedder.batches == [["same"]]
    embedder.close()


async def test_a_prepared_model_is_loaded_once_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = SentenceEmbedder(ModelFiles())
    loads: list[object] = []
    monkeypatch.setattr(embedder, "load", lambda: loads.append(embedder) or embedder)
    with caplog.at_level(logging.INFO):
        await asyncio.gather(embedder.prepare(), embedder.prepare())
    assert len(loads) == 1
    said = [record.message for record in caplog.records if record.name == sentence.__name__]
    assert [each.split(" in ")[0] for each in said[1:]] == ["embedding model loaded"]
    assert said[0].startswith("loading the embedding model from")
    embedder.close()


async def test_passages_go_in_batches_of_like_length_and_come_back_in_order() -> None:
    embedder = Fake()
    texts = ["x" * (length * 37 % 101) for length in range(50)]
    assert await embedder.embed_passages(texts) == [[float(len(text))] for text in texts]
    assert [len(batch) for batch in embedder.batches] == [BATCH, BATCH, BATCH, 2]
    lengths = [len(text) for batch in embedder.batches for text in batch]
    assert lengths == sorted(lengths)
    assert await embedder.embed_passages([]) == []
    embedder.close()


async def test_two_uploads_take_turns() -> None:
    embedder = Fake()
    await asyncio.gather(embedder.embed_passages(["a"] * 64), embedder.embed_passages(["bb"] * 64))
    assert [batch[0] for batch in embedder.batches[:4]] == ["a", "bb", "a", "bb"]
    embedder.close()
