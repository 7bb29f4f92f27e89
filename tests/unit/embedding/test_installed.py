"""Which embedder is asked: that of the installation, and those whose vectors bases still have."""

import json
from pathlib import Path

import pytest

from adapters.outbound.knowledge.embedding.installed import Computing, InstalledEmbedders
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, model_named
from adapters.outbound.knowledge.models.downloads import ModelFolder, describe
from domain.refusals import Unavailable

PACKAGED = "all-MiniLM-L6-v2:384:53aa51172d142c89"


class Kept:
    """A choice in memory."""

    def __init__(self, choice: tuple[str, str] | None = None) -> None:
        self.choice = choice

    async def find(self) -> tuple[str, str] | None:
        return self.choice

    async def choose(self, name: str, precision: str, *, unless_chosen: bool = False) -> None:
        if self.choice is None or not unless_chosen:
            self.choice = name, precision


def a_model(path: Path, weights: bytes = b"weights") -> Path:
    path.mkdir(parents=True)
    (path / "tokenizer.json").write_text("{}")
    (path / "config.json").write_text(json.dumps({"hidden_size": 384}))
    (path / "model.safetensors").write_bytes(weights)
    return path


def embedders(
    folder: Path,
    kept: Kept | None = None,
    given: ModelFiles | None = None,
    computing: Computing | None = None,
) -> InstalledEmbedders:
    return InstalledEmbedders(ModelFolder(folder), given, kept or Kept(), computing or Computing("int8"))


async def fingerprint_of(installed: InstalledEmbedders, fingerprint: str | None = None) -> str:
    return (await (await installed.of(fingerprint)).model()).fingerprint


async def test_what_suits_the_first_processor_is_kept_for_all(tmp_path: Path) -> None:
    kept = Kept()
    assert await fingerprint_of(embedders(tmp_path, kept)) == f"{PACKAGED}:int8-1"
    assert kept.choice == (BUILT_IN, "int8")
    slow = embedders(tmp_path, kept, computing=Computing("float32"))
    assert (await slow.model()).fingerprint == f"{PACKAGED}:int8-1"
    forced = embedders(tmp_path, kept, computing=Computing("int8", forced="float32"))
    assert (await forced.model()).fingerprint == PACKAGED


async def test_vectors_of_every_model_that_is_here_find_their_embedder(tmp_path: Path) -> None:
    a_model(tmp_path / "multilingual-e5-small")
    installed = embedders(tmp_path)
    model = model_named("multilingual-e5-small")
    assert model is not None
    await installed.choose(model)
    assert await installed.chosen() == model.name
    present = await installed.model()
    assert present.name == model.name
    assert not present.latin_only
    for former in (PACKAGED, f"{PACKAGED}:int8-1", present.fingerprint):
        assert await fingerprint_of(installed, former) == former
    assert await installed.of(PACKAGED) is await installed.of(PACKAGED)
    assert await fingerprint_of(installed, "gone:384") == present.fingerprint
    await installed.release({present.fingerprint})
    assert await fingerprint_of(installed, PACKAGED) == PACKAGED
    await installed.close()


async def test_the_model_of_the_setting_wins(tmp_path: Path) -> None:
    given = ModelFiles(a_model(tmp_path / "own"))
    installed = embedders(tmp_path, Kept(("gte-small", "int8")), given)
    assert (await installed.model()).name == "own"
    assert await fingerprint_of(installed, PACKAGED) == PACKAGED


async def test_a_chosen_model_that_is_not_here_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="switchboard models pull gte-small"):
        await embedders(tmp_path, Kept(("gte-small", "int8"))).model()


def test_a_pulled_model_says_how_it_is_used(tmp_path: Path) -> None:
    model = model_named("bge-small-en-v1.5")
    assert model is not None
    describe(model, a_model(tmp_path / model.name))
    files = ModelFolder(tmp_path).files(model)
    assert files.prompts.query.startswith("Represent this sentence")
    assert (files.prompts.passage, files.window) == ("", 512)
    pooling = json.loads((tmp_path / model.name / "1_Pooling" / "config.json").read_text())
    assert (pooling["pooling_mode_cls_token"], pooling["pooling_mode_mean_tokens"]) == (True, False)
