"""Models fetched from a stand-in of the hub, over HTTP."""

import errno
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import pytest
from aiohttp import web

from adapters.outbound.knowledge.embedding.model_files import (
    PACKAGED_WEIGHTS,
    ModelFiles,
    Prompts,
    packaged_folder,
)
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, MODELS, Kind, PinnedModel, model_named
from adapters.outbound.knowledge.models.downloads import ModelDownloads, ModelFolder
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from domain.refusals import StorageFull, Unavailable
from tests.support.servers import serving

FILES = {
    "config.json": b'{"hidden_size": 384}',
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights" * 50_000,
}
MODEL = PinnedModel(
    "a-model",
    Kind.EMBEDDING,
    "people/a-model",
    "revision",
    "MIT",
    "English",
    1,
    {name: sha256(content).hexdigest() for name, content in FILES.items()},
    multilingual=True,
    prompts=Prompts("query: ", "passage: "),
)
PLACES = [f"/{model.repository}/resolve/{model.revision}" for model in (MODEL, MODELS[0])]


@dataclass
class StandIn:
    """Serves files by the hub's layout. `breaks_after`: bytes of the weights after which the connection ends."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    breaks_after: int | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        place, _, name = request.path.rpartition("/")
        if place not in PLACES:
            return web.Response(status=404)
        wanted = request.headers.get("Range", "")
        self.asked.append((name, wanted))
        content = self.files[name]
        start = int(wanted.removeprefix("bytes=").removesuffix("-") or 0)
        if wanted and start >= len(content):
            return web.Response(status=416)
        response = web.StreamResponse(status=206 if wanted else 200)
        response.content_length = len(content) - start
        await response.prepare(request)
        if name == "model.safetensors" and self.breaks_after is not None:
            await response.write(content[start : start + self.breaks_after])
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(content[start:])
        return response


@dataclass
class World:
    server: StandIn
    http: AioHttp
    address: str
    folder: ModelFolder
    told: list[tuple[str, int]] = field(default_factory=list)

    async def pull(self, model: PinnedModel = MODEL) -> Path:
        return await ModelDownloads(self.http, self.address, self.folder).pull(
            model, lambda name, size: self.told.append((name, size))
        )

    @property
    def left(self) -> list[str]:
        return [path.name for path in self.folder.path.iterdir()]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    server, http = StandIn(), AioHttp(AddressPolicy("open"))
    async with serving(server.answer) as address:
        yield World(server, http, address, ModelFolder(tmp_path))
    await http.close()


async def test_a_model_comes_whole_and_describes_itself(world: World) -> None:
    path = await world.pull()
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert world.told[-1] == ("model.safetensors", len(FILES["model.safetensors"]))
    files = world.folder.files(MODEL)
    assert (files.window, files.prompts, files.model.latin_only) == (
        512,
        Prompts("query: ", "passage: "),
        False,
    )
    assert world.left == ["a-model"]
    asked = len(world.server.asked)
    await world.pull()
    assert len(world.server.asked) == asked


async def test_the_files_of_the_built_in_model_are_those_of_the_hub(world: World) -> None:
    model = model_named(BUILT_IN)
    assert model is not None
    world.server.files = {name: (packaged_folder() / name).read_bytes() for name in model.files}
    assert await world.pull(model) == world.folder.of(BUILT_IN)
    assert model.files["model.safetensors"] == PACKAGED_WEIGHTS
    assert world.folder.files(model).model.fingerprint == ModelFiles().model.fingerprint


async def test_a_wrong_file_is_refused_and_nothing_is_kept(world: World) -> None:
    world.server.files["model.safetensors"] = b"something else"
    with pytest.raises(Unavailable, match=r"model\.safetensors is not the expected file: its SHA-256"):
        await world.pull()
    assert world.left == []


async def test_a_broken_download_is_gone_on_with(world: World) -> None:
    world.server.breaks_after = 1000
    with pytest.raises(Unavailable, match="a-model could not be fetched"):
        await world.pull()
    assert not world.folder.has(MODEL)
    world.server.breaks_after = None
    world.server.asked.clear()
    await world.pull()
    ((name, wanted),) = world.server.asked
    assert name == "model.safetensors"
    assert wanted.startswith("bytes=")
    assert (world.folder.of("a-model") / name).read_bytes() == FILES[name]


@pytest.mark.parametrize(
    "left", [b"of another content", FILES["model.safetensors"] + b"more"], ids=["part", "more"]
)
async def test_what_was_left_of_something_else_is_fetched_anew(world: World, left: bytes) -> None:
    partial = world.folder.of("a-model.partial")
    partial.mkdir()
    (partial / "model.safetensors").write_bytes(left)
    path = await world.pull()
    assert (path / "model.safetensors").read_bytes() == FILES["model.safetensors"]


async def test_a_missing_file_and_a_closed_hub_say_what_to_do(world: World) -> None:
    missing = replace(MODEL, repository="people/unknown")
    with pytest.raises(Unavailable, match=r"status 404.*try again"):
        await world.pull(missing)
    world.address = "http://127.0.0.1:1"
    with pytest.raises(Unavailable, match="try again"):
        await world.pull()


async def test_a_full_disk_says_how_much_is_needed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def full(path: Path, *arguments: str) -> object:
        if path.name == "model.safetensors":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *arguments)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(StorageFull, match="the disk is full: a-model needs 1 MB"):
        await world.pull()
    assert world.left == []


def test_a_speech_model_is_taken_into_use_by_name(tmp_path: Path) -> None:
    folder = ModelFolder(tmp_path)
    assert folder.speech() == ""
    for name in ("whisper-tiny", "whisper-base"):
        (tmp_path / name).mkdir()
        folder.use_speech(name)
        assert folder.speech() == name


def test_every_file_of_the_list_is_pinned() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS)
    for model in MODELS:
        assert len(model.revision) == 40
        assert all(len(digest) == 64 for digest in model.files.values())
        assert {"config.json", "tokenizer.json"} < set(model.files)
