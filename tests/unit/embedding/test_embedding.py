"""The embedding model: what it costs to start, what identifies it, that it does what it should."""

import asyncio
import hashlib
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.knowledge.embedding import model_files, onnx_embedder
from adapters.outbound.knowledge.embedding.exports import Exports, Precision
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.embedding.onnx_embedder import OnnxEmbedder, has_fast_int8
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, MODELS, SCALES, Kind
from domain.refusals import Unavailable
from ports.indexing import DIMENSION, EmbeddingModel, Scale

ROOT = Path(__file__).parents[3]


def test_importing_the_apps_loads_no_model_library() -> None:
    code = (
        "import sys, apps.cli, apps.compose.container, apps.processes.standalone, apps.processes.worker;"
        "import apps.grpc_server.main;"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'unstructured')"
        " if name in sys.modules])"
    )
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'proto' / 'gen'}", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=paths, cwd=ROOT)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


async def test_the_packaged_model_is_known_by_its_weights_and_by_what_it_computes_with(
    tmp_path: Path,
) -> None:
    model = await OnnxEmbedder(ModelFiles(), Exports(tmp_path), precision="float32").model()
    assert (model.name, model.dimension, model.latin_only) == ("all-MiniLM-L6-v2", DIMENSION, True)
    assert model.fingerprint == "all-MiniLM-L6-v2:384:53aa51172d142c89"
    quantised = await OnnxEmbedder(ModelFiles(), Exports(tmp_path), precision="int8").model()
    assert quantised.fingerprint == "all-MiniLM-L6-v2:384:53aa51172d142c89:int8-1"
    assert not list(tmp_path.iterdir())


def test_tokens_are_counted_without_a_limit() -> None:
    files = ModelFiles()
    assert files.count_tokens(["hello world", "hello " * 1000, ""]) == [2, 1000, 0]


@pytest.mark.parametrize("remembered", [200_000, 3], ids=["words remembered", "words forgotten"])
def test_tokens_are_counted_as_the_tokenizer_does(monkeypatch: pytest.MonkeyPatch, remembered: int) -> None:
    monkeypatch.setattr(model_files, "REMEMBERED_WORDS", remembered)
    files = ModelFiles()
    tokenizer = files.load_tokenizer()
    texts = (
        "The pump (INV-2024-00317) isn't serviced; see https://example.org/a_b?c=1 ...",
        "naïve Müller\u2019s \u201cÜberprüfung\u201d \u2014 \ufb01ne",
        "图书馆位于三楼。编号为ERR-4711的错误 Ошибка خطأ",
        "tabs\tand\nlines \u00a0 and\u3000wide blanks",
        "x" * 300 + " the the the",
    )
    wanted = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    assert files.count_tokens(texts) == wanted
    assert [files.count_tokens([text])[0] for text in texts] == wanted


def test_long_texts_are_cut_at_the_window_and_keep_their_marks() -> None:
    files = ModelFiles()
    long, short = files.token_ids("pump " * 1000), files.token_ids("pump")
    assert (len(long), len(short), files.window) == (256, 3, 256)
    assert (long[0], long[-1]) == (short[0], short[-1])


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


def test_cosines_of_every_model_that_can_be_pulled_are_on_one_scale(tmp_path: Path) -> None:
    """A wrong passage at .74 of e5 says as little as one at 0 of the built-in model; others are taken as they are."""
    weights = {
        model.name: model.files["model.safetensors"] for model in MODELS if model.kind is Kind.EMBEDDING
    }
    similarity = {
        name: EmbeddingModel(name, name, scale=SCALES[digest]).similarity for name, digest in weights.items()
    }
    assert similarity["multilingual-e5-small"](0.74) == 0
    assert similarity["multilingual-e5-small"](0.87) == pytest.approx(0.5)
    assert {name: scale(1.0) for name, scale in similarity.items()} == dict.fromkeys(
        weights, pytest.approx(1.0)
    )
    assert similarity[BUILT_IN](0.57) == 0.57
    folder = a_folder(tmp_path, hidden_size=384)
    digest = hashlib.sha256(b"weights").hexdigest()
    assert ModelFiles(folder, scales={digest: Scale(0.5, 0.4)}).model.similarity(0.7) == pytest.approx(0.5)
    assert ModelFiles(folder).model.similarity(-0.2) == 0


def test_cosines_count_less_in_a_language_that_the_model_is_not_made_for() -> None:
    model = ModelFiles(scales=SCALES).model
    assert model.similarity(0.6) == model.similarity(0.6, ["english"]) == pytest.approx(0.6)
    assert model.similarity(0.6, ["german", "english"]) == pytest.approx(0.6)
    assert model.similarity(0.6, ["spanish"]) == pytest.approx(0.18)
    several = next(model for model in MODELS if model.multilingual)
    many = EmbeddingModel(several.name, several.name, scale=several.scale)
    assert many.similarity(0.87, ["spanish"]) == many.similarity(0.87)


def test_folders_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"tokenizer\.json"):
        _ = ModelFiles(tmp_path).model
    with pytest.raises(Unavailable, match="768 dimensions"):
        _ = ModelFiles(a_folder(tmp_path, hidden_size=768)).model
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(Unavailable, match="weights"):
        _ = ModelFiles(tmp_path).model


class Fake(OnnxEmbedder):
    """Notes what is embedded instead of embedding it; `held` keeps the embedding of that text from ending."""

    def __init__(self, threads: int = 1, held: str | None = None) -> None:
        super().__init__(ModelFiles(), Exports(Path()), precision="int8", threads=threads)
        self.texts: list[str] = []
        self.held = held
        self.begun, self.free = threading.Event(), threading.Event()

    async def session(self) -> object:
        return self

    def embed(self, session: object, text: str) -> Sequence[float]:
        self.texts.append(text)
        if text == self.held:
            self.begun.set()
            self.free.wait(60)
        return [float(len(text))]


async def test_a_query_is_embedded_once() -> None:
    embedder = Fake()
    assert await embedder.embed_query("same") == await embedder.embed_query("same")
    assert embedder.texts == ["same"]
    embedder.close()


async def test_a_prepared_model_is_loaded_once_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Prepared(Exports):
        async def file_of(self, files: ModelFiles, precision: Precision) -> Path:
            return Path("model.onnx")

    embedder = OnnxEmbedder(ModelFiles(), Prepared(Path()), precision="int8")
    loads: list[Path] = []
    monkeypatch.setattr(embedder, "load", lambda file: loads.append(file) or embedder)
    with caplog.at_level(logging.INFO):
        await asyncio.gather(embedder.prepare(), embedder.prepare())
    assert loads == [Path("model.onnx")]
    assert await embedder.ensure_prepared()
    said = [record.message for record in caplog.records if record.name == onnx_embedder.__name__]
    assert [each.split(" in ")[0] for each in said] == ["embedding model loaded"]
    embedder.close()


@pytest.mark.parametrize("threads", [1, 3])
async def test_vectors_of_passages_come_back_in_order(threads: int) -> None:
    embedder = Fake(threads)
    texts = ["x" * (length * 37 % 101) for length in range(50)]
    assert await embedder.embed_passages(texts) == [[float(len(text))] for text in texts]
    assert await embedder.embed_passages([]) == []
    embedder.close()


async def test_two_uploads_take_turns() -> None:
    embedder = Fake()
    await asyncio.gather(embedder.embed_passages(["a"] * 64), embedder.embed_passages(["bb"] * 64))
    assert {"a", "bb"} == set(embedder.texts[:4])
    assert max(embedder.texts.index("bb"), embedder.texts.index("a")) <= 2
    embedder.close()


async def test_a_query_passes_the_passages_that_wait() -> None:
    embedder = Fake(held="passage 0")
    passages = asyncio.create_task(embedder.embed_passages([f"passage {number}" for number in range(20)]))
    await asyncio.to_thread(embedder.begun.wait, 60)
    await embedder.embed_query("query")
    assert embedder.texts == ["passage 0", "query"]
    embedder.free.set()
    assert len(await passages) == 20
    embedder.close()


async def test_passages_go_on_while_queries_never_end() -> None:
    embedder = Fake(held="query")
    query = asyncio.create_task(embedder.embed_query("query"))
    await asyncio.to_thread(embedder.begun.wait, 60)
    assert await embedder.embed_passages(["passage"]) == [[7.0]]
    embedder.free.set()
    await query
    embedder.close()


@pytest.mark.parametrize(
    ("line", "fast"),
    [
        ("flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni", True),
        ("flags\t\t: fpu sse4_2 avx2", False),
        ("Features\t: fp asimd asimddp", True),
        ("Features\t: fp asimd", False),
        ("model name\t: avx512_vnni", False),
    ],
)
def test_the_processor_says_whether_integers_are_fast(tmp_path: Path, line: str, fast: bool) -> None:
    info = tmp_path / "cpuinfo"
    assert not has_fast_int8(info)
    has_fast_int8.cache_clear()
    info.write_text(f"processor\t: 0\n{line}\n")
    assert has_fast_int8(info) is fast
    has_fast_int8.cache_clear()
