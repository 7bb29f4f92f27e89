"""Models as files of ONNX: made once, known again, made anew when damaged."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.outbound.knowledge.embedding import exports
from adapters.outbound.knowledge.embedding.export import NICENESS
from adapters.outbound.knowledge.embedding.exports import Exports
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from domain.refusals import Unavailable
from tests.support.service import state
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]
EXPORTER = """
import os, pathlib, sys, time
from adapters.outbound.knowledge.embedding.export import end_with_parent, step_back
step_back()
end_with_parent()
folder, file, precision = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(precision + "\\n")
outcome = pathlib.Path({log!r} + ".outcome").read_text()
if outcome == "fails":
    sys.exit("no room left")
pathlib.Path(file).write_text("half a")
if outcome == "hangs":
    pathlib.Path({log!r} + ".process").write_text(f"{{os.getpid()}} {{os.nice(0)}} ")
    time.sleep(600)
pathlib.Path(file).write_text("a model " + precision)
"""
SERVICE = """
import asyncio, pathlib
from adapters.outbound.knowledge.embedding import exports
from adapters.outbound.knowledge.embedding.model_files import ModelFiles

exports.MODULE = "stand_in_exporter"
files, cache = ModelFiles(pathlib.Path({model!r})), exports.Exports(pathlib.Path({cache!r}))
asyncio.run(cache.file_of(files, "int8"))
"""


class Exporter:
    """A module in place of the real one; `made` says what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        (folder / "stand_in_exporter.py").write_text(EXPORTER.format(log=str(self.log)))
        self.works()

    def works(self) -> None:
        self._becomes("works")

    def fails(self) -> None:
        self._becomes("fails")

    def hangs(self) -> None:
        """Writes half of the file and goes no further."""
        self._becomes("hangs")

    def _becomes(self, outcome: str) -> None:
        """The module reads it when it runs. A module written anew within the same second, at the same size, would not
        be compiled again."""
        self.log.with_name("log.outcome").write_text(outcome)

    async def hanging(self) -> tuple[int, int]:
        """Process and niceness of the one that hangs, once there is one."""
        file = self.log.with_name("log.process")

        def is_written() -> bool:
            return file.exists() and file.read_text().endswith(" ")

        await asyncio.to_thread(until, is_written, "an exporter hangs")
        process, niceness = file.read_text().split()
        return int(process), int(niceness)

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


async def test_a_model_is_exported_once_for_each_precision(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    cache = Exports(tmp_path / "cache")
    others = [Exports(tmp_path / "cache") for _ in range(2)]
    paths = set(await asyncio.gather(*(each.file_of(files, "int8") for each in (cache, cache, *others))))
    assert exporter.made == ["int8"]
    assert paths == {await cache.file_of(files, "int8")}
    assert (await cache.file_of(files, "float32")).read_text() == "a model float32"
    assert exporter.made == ["int8", "float32"]


async def test_a_damaged_export_is_made_anew(tmp_path: Path, exporter: Exporter, files: ModelFiles) -> None:
    cache = Exports(tmp_path / "cache")
    path = await cache.file_of(files, "int8")
    path.write_text("half a mod")
    assert (await cache.file_of(files, "int8")).read_text() == "a model int8"
    assert exporter.made == ["int8", "int8"]


async def test_an_export_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    exporter.fails()
    with pytest.raises(Unavailable, match="no room left"):
        await Exports(tmp_path / "cache").file_of(files, "int8")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]
    exporter.works()
    assert (await Exports(tmp_path / "cache").file_of(files, "int8")).is_file()


async def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("a file in place of the folder")
    cache = Exports(tmp_path / "cache")
    with pytest.raises(
        Unavailable, match=r"cannot be prepared in .*cache, which the service must be able to write"
    ):
        await cache.file_of(files, "int8")
    assert "which the service must be able to write" in caplog.text


async def test_an_export_that_failed_is_logged_once_and_tried_again_ever_later(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, caplog: pytest.LogCaptureFixture
) -> None:
    exporter.fails()
    now = [0.0]
    cache = Exports(tmp_path / "cache", now=lambda: now[0])

    async def wanted_for(seconds: int) -> int:
        """How often it was made while somebody needs it in each of so many seconds, and how often it was logged."""
        before, caplog.records[:] = len(exporter.made) if exporter.log.exists() else 0, []
        for _ in range(seconds):
            with pytest.raises(Unavailable, match="no room left"):
                await cache.file_of(files, "int8")
            now[0] += 1
        made = len(exporter.made) - before
        assert len([record for record in caplog.records if record.levelname == "ERROR"]) == made
        return made

    assert await wanted_for(5) == 1
    assert await wanted_for(10) == 1
    assert await wanted_for(11) == 1
    assert not cache.is_there(files, "int8")
    exporter.works()
    now[0] += 20
    assert (await cache.file_of(files, "int8")).is_file()
    assert cache.is_there(files, "int8")


async def test_stopping_ends_an_export_and_leaves_nothing_half_written(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    exporter.hangs()
    cache = Exports(tmp_path / "cache")
    assert not await cache.begin(files, "int8")
    waiting = asyncio.create_task(cache.file_of(files, "int8"))
    process, niceness = await exporter.hanging()
    assert niceness == min(19, os.nice(0) + NICENESS)
    await cache.close()
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
    assert state(process) is None
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]
    exporter.works()
    assert (await Exports(tmp_path / "cache").file_of(files, "int8")).read_text() == "a model int8"


async def test_an_export_goes_on_when_who_waits_for_it_gives_up(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    cache = Exports(tmp_path / "cache")
    impatient = asyncio.create_task(cache.file_of(files, "int8"))
    assert not await cache.begin(files, "int8")
    impatient.cancel()
    assert (await cache.file_of(files, "int8")).read_text() == "a model int8"
    assert exporter.made == ["int8"]
    assert await cache.begin(files, "int8")


async def test_an_export_ends_with_a_service_that_is_killed_and_the_next_one_cleans_up(
    tmp_path: Path, exporter: Exporter, files: ModelFiles
) -> None:
    exporter.hangs()
    code = SERVICE.format(model=str(files.folder), cache=str(tmp_path / "cache"))
    with subprocess.Popen(  # noqa: ASYNC220 - begins at once
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}, cwd=ROOT
    ) as service:
        process, _ = await exporter.hanging()
        service.kill()
    await asyncio.to_thread(until, lambda: state(process) in (None, "Z"), "it ends with the service")
    exporter.works()
    path = await Exports(tmp_path / "cache").file_of(files, "int8")
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".lock", ".onnx"]
    assert path.read_text() == "a model int8"


async def test_a_prepared_folder_that_cannot_be_read_is_told_and_passed_over(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, caplog: pytest.LogCaptureFixture
) -> None:
    prepared = await Exports(tmp_path / "prepared").file_of(files, "int8")
    name = prepared.name
    prepared.unlink()
    prepared.mkdir()  # a folder of that name cannot be read as a file, by root neither
    made = await Exports(tmp_path / "cache", tmp_path / "prepared").file_of(files, "int8")
    assert made == tmp_path / "cache" / name
    assert "EMBEDDING_PREPARED_DIR cannot be read" in caplog.text


async def test_a_prepared_model_is_read_where_nothing_can_be_written_or_made(
    tmp_path: Path, exporter: Exporter, files: ModelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = tmp_path / "prepared"
    made = await Exports(prepared).file_of(files, "int8")
    monkeypatch.setattr("adapters.outbound.knowledge.embedding.exports.can_prepare", lambda: False)
    cache = Exports(tmp_path / "cache", prepared)
    assert await cache.file_of(files, "int8") == made
    assert not (tmp_path / "cache").exists()
    with pytest.raises(Unavailable, match="PyTorch, which is not installed"):
        await cache.file_of(files, "float32")


@pytest.mark.model
def test_embedding_imports_neither_torch_nor_transformers(exported: Exports) -> None:
    code = f"""
import asyncio, pathlib, sys
from adapters.outbound.knowledge.embedding.exports import Exports
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.embedding.onnx_embedder import OnnxEmbedder

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
