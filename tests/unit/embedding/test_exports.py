"""Models as files of ONNX: made once, known again, made anew when damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.outbound.embedding import exports
from adapters.outbound.embedding.exports import Exports
from adapters.outbound.embedding.model_files import ModelFiles
from domain.refusals import Unavailable

ROOT = Path(__file__).parents[3]
EXPORTER = """
import pathlib, sys
folder, file, precision = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(precision + "\\n")
if {fails!r}:
    sys.exit("no room left")
pathlib.Path(file).write_text("a model " + precision)
"""


class Exporter:
    """A module in place of the real one; `made` says what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.log = folder / "log"
        self.works()

    def works(self, *, fails: bool = False) -> None:
        (self._folder / "stand_in_exporter.py").write_text(EXPORTER.format(log=str(self.log), fails=fails))

    @property
    def made(self) -> list[str]:
        return self.log.read_text().split()


@pytest.fixture
def exporter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exporter:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(exports, "MODULE", "stand_in_exporter")
    return Exporter(tmp_path)


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 384}))
    (folder / "model.safetensors").write_bytes(b"weights")
    return ModelFiles(folder)


def test_a_model_is_exported_once_for_each_precision(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    cache = Exports(tmp_path / "cache")
    with ThreadPoolExecutor(3) as several:
        paths = set(several.map(lambda _: Exports(tmp_path / "cache").file_of(files, "int8"), range(3)))
    assert exporter.made == ["int8"]
    assert paths == {cache.file_of(files, "int8")}
    assert cache.file_of(files, "float32").read_text() == "a model float32"
    assert exporter.made == ["int8", "float32"]


def test_a_damaged_export_is_made_anew(tmp_path: Path, exporter: Exporter, files: ModelFiles) -> None:
    cache = Exports(tmp_path / "cache")
    path = cache.file_of(files, "int8")
    path.write_text("half a mod")
    assert cache.file_of(files, "int8").read_text() == "a model int8"
    assert exporter.made == ["int8", "int8"]


def test_an_export_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    exporter.works(fails=True)
    with pytest.raises(Unavailable, match="no room left"):
        Exports(tmp_path / "cache").file_of(files, "int8")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]
    exporter.works()
    assert Exports(tmp_path / "cache").file_of(files, "int8").is_file()


def test_an_export_that_failed_is_logged_once_and_tried_again_ever_later(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, caplog: pytest.LogCaptureFixture
) -> None:
    exporter.works(fails=True)
    now = [0.0]
    cache = Exports(tmp_path / "cache", now=lambda: now[0])

    def wanted_for(seconds: int) -> int:
        """How often it was made while somebody needs it in each of so many seconds, and how often it was logged."""
        before, caplog.records[:] = len(exporter.made) if exporter.log.exists() else 0, []
        for _ in range(seconds):
            with pytest.raises(Unavailable, match="no room left"):
                cache.file_of(files, "int8")
            now[0] += 1
        made = len(exporter.made) - before
        assert len([record for record in caplog.records if record.levelname == "ERROR"]) == made
        return made

    assert wanted_for(30) == 1
    assert wanted_for(60) == 1
    assert wanted_for(61) == 1
    assert not cache.is_there(files, "int8")
    exporter.works()
    now[0] += 60
    assert cache.file_of(files, "int8").is_file()
    assert cache.is_there(files, "int8")


def test_a_prepared_folder_that_cannot_be_read_is_told_and_passed_over(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, caplog: pytest.LogCaptureFixture
) -> None:
    prepared = Exports(tmp_path / "prepared").file_of(files, "int8")
    name = prepared.name
    prepared.unlink()
    prepared.mkdir()  # a folder of that name cannot be read as a file, by root neither
    made = Exports(tmp_path / "cache", tmp_path / "prepared").file_of(files, "int8")
    assert made == tmp_path / "cache" / name
    assert "EMBEDDING_PREPARED_DIR cannot be read" in caplog.text


def test_a_prepared_model_is_read_where_nothing_can_be_written_or_made(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = tmp_path / "prepared"
    made = Exports(prepared).file_of(files, "int8")
    monkeypatch.setattr("adapters.outbound.embedding.exports.can_prepare", lambda: False)
    cache = Exports(tmp_path / "cache", prepared)
    assert cache.file_of(files, "int8") == made
    assert not (tmp_path / "cache").exists()
    with pytest.raises(Unavailable, match="PyTorch, which is not installed"):
        cache.file_of(files, "float32")


@pytest.mark.model
def test_embedding_imports_neither_torch_nor_transformers(exported: Exports) -> None:
    code = f"""
import asyncio, pathlib, sys
from adapters.outbound.embedding.exports import Exports
from adapters.outbound.embedding.model_files import ModelFiles
from adapters.outbound.embedding.onnx_embedder import OnnxEmbedder

async def main():
    embedder = OnnxEmbedder(ModelFiles(), Exports(pathlib.Path({str(exported.folder)!r})), precision="int8")
    vectors = [*await embedder.embed_passages(["a passage"] * 3), await embedder.embed_query("a query")]
    embedder.close()
    print([len(vector) for vector in vectors])
    print([name for name in ("torch", "transformers", "sentence_transformers", "onnx") if name in sys.modules])

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        cwd=ROOT,
    )
    assert (done.stdout.splitlines(), done.returncode) == (["[384, 384, 384, 384]", "[]"], 0), done.stderr
