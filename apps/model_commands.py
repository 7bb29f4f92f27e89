"""`switchboard models`: which there are, fetching one, taking one into use."""

import argparse
import asyncio

from adapters.outbound.knowledge.models.catalogue import BUILT_IN, MODELS, Kind, PinnedModel, model_named
from adapters.outbound.knowledge.models.downloads import MEGABYTE, ModelDownloads
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from apps.commands import with_database
from apps.compose.container import CommandContainer
from apps.compose.knowledge import model_folder
from apps.processes.starting import StartError
from apps.settings import Settings
from domain.refusals import Unavailable


def listing(settings: Settings, _: argparse.Namespace) -> int:
    async def run(container: CommandContainer) -> None:
        folder = model_folder(settings)
        embedding = settings.embedding_model_dir or await container.embedder().chosen()
        in_use = {Kind.SPEECH: folder.speech(), Kind.EMBEDDING: embedding}
        print(f"{'NAME':<23} {'KIND':<10} {'MB':>4}  {'LICENCE':<11} {'LANGUAGES':<14} STATE")
        for model in MODELS:
            state = "comes with the installation" if model.name == BUILT_IN else ""
            if model.name == in_use.get(model.kind):
                state = "in use"
            elif folder.has(model):
                state = "pulled"
            print(
                f"{model.name:<23} {model.kind:<10} {model.megabytes:>4}  {model.licence:<11}"
                f" {model.languages:<14} {state}".rstrip()
            )
        if settings.embedding_model_dir:
            print(f"EMBEDDING_MODEL_DIR is set: searches use the model in {settings.embedding_model_dir}")
        if settings.whisper_model_dir:
            print(f"WHISPER_MODEL_DIR is set: speech is read by the model in {settings.whisper_model_dir}")
        try:
            present = await container.embedder().model()
        except Unavailable as refusal:
            print(refusal.message)
            return
        done, total = await container.knowledge().reindexing.progress(present.fingerprint)
        if total:
            print(
                f"{done} of {total} chunks are embedded anew with {present.name}; until all of a knowledge base are,"
                " it is searched by its former vectors"
            )

    return with_database(settings, run)


def pull(settings: Settings, options: argparse.Namespace) -> int:
    model, folder = _model(options.name), model_folder(settings)
    if folder.has(model):
        print(f"{model.name} is already here")
        return 0
    reported: dict[str, int] = {}

    def tell(name: str, size: int) -> None:
        megabytes = size // (10 * MEGABYTE) * 10
        if megabytes != reported.get(name):
            reported[name] = megabytes
            print(f"{name}: {megabytes} MB of {model.megabytes} MB in all", flush=True)

    async def run() -> None:
        http = AioHttp(AddressPolicy.parse(settings.address_policy, settings.outbound_allow.split(",")))
        try:
            path = await ModelDownloads(http, settings.models_url, folder).pull(model, tell)
        finally:
            await http.close()
        print(f"{model.name} is in {path}; take it into use with: switchboard models use {model.name}")

    asyncio.run(run())
    return 0


def use(settings: Settings, options: argparse.Namespace) -> int:
    model, folder = _model(options.name), model_folder(settings)
    if not folder.has(model) and model.name != BUILT_IN:
        raise StartError(f"{model.name} is not here yet; fetch it with: switchboard models pull {model.name}")
    if model.kind is Kind.SPEECH:
        if settings.whisper_model_dir:
            raise StartError(f"WHISPER_MODEL_DIR names the speech model; unset it to use {model.name}")
        folder.use_speech(model.name)
        print(
            f"{model.name} recognises speech from the next start on; it needs: pip install 'switchboard[whisper]'"
        )
        return 0
    if settings.embedding_model_dir:
        raise StartError(f"EMBEDDING_MODEL_DIR names the embedding model; unset it to use {model.name}")

    async def run(container: CommandContainer) -> None:
        await container.embedder().choose(model)
        present = await container.embedder().model()
        _, total = await container.knowledge().reindexing.progress(present.fingerprint)
        print(f"{model.name} is the embedding model of this installation")
        if total:
            print(
                f"{total} chunks are embedded anew by the running service, or by: switchboard reindex;"
                " meanwhile searches use the former vectors. How far it is: switchboard models list"
            )

    return with_database(settings, run)


def _model(name: str) -> PinnedModel:
    model = model_named(name)
    if model is None:
        names = ", ".join(known_model.name for known_model in MODELS)
        raise StartError(f"there is no model '{name}'; there are: {names}")
    return model
