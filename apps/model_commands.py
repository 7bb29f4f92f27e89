"""`switchboard models`: which there are, fetching one, taking one into use."""

from __future__ import annotations

import argparse
import asyncio

from adapters.outbound.http.client import AioHttp
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.models.catalogue import BUILT_IN, MODELS, Kind, PinnedModel, model_named
from adapters.outbound.models.downloads import MEGABYTE, ModelDownloads
from adapters.outbound.models.folder import ModelFolder
from apps.containers.knowledge import model_folder
from apps.settings import Settings
from apps.starting import StartError


def listing(settings: Settings, _: argparse.Namespace) -> int:
    folder = model_folder(settings)
    print(f"{'NAME':<23} {'KIND':<10} {'MB':>4}  {'LICENCE':<11} {'LANGUAGES':<14} STATE")
    for model in MODELS:
        print(
            f"{model.name:<23} {model.kind:<10} {model.megabytes:>4}  {model.licence:<11} {model.languages:<14}"
            f" {_state(model, folder)}".rstrip()
        )
    return 0


def _state(model: PinnedModel, folder: ModelFolder) -> str:
    if model.kind is Kind.SPEECH and folder.speech() == model.name:
        return "in use"
    if folder.has(model):
        return "pulled"
    return "comes with the installation" if model.name == BUILT_IN else ""


def pull(settings: Settings, options: argparse.Namespace) -> int:
    model, folder = _model(options.name), model_folder(settings)
    if folder.has(model):
        print(f"{model.name} is already here")
        return 0
    path = asyncio.run(_pulled(settings, model, folder))
    print(f"{model.name} is in {path}; take it into use with: switchboard models use {model.name}")
    return 0


async def _pulled(settings: Settings, model: PinnedModel, folder: ModelFolder) -> str:
    http = AioHttp(AddressPolicy.parse(settings.address_policy, settings.outbound_allow.split(",")))
    told: dict[str, int] = {}

    def tell(name: str, size: int) -> None:
        megabytes = size // (10 * MEGABYTE) * 10
        if megabytes != told.get(name):
            told[name] = megabytes
            print(f"{name}: {megabytes} MB of {model.megabytes} MB in all", flush=True)

    try:
        return str(await ModelDownloads(http, settings.models_url, folder).pull(model, tell))
    finally:
        await http.close()


def use(settings: Settings, options: argparse.Namespace) -> int:
    model, folder = _model(options.name), model_folder(settings)
    if not folder.has(model) and model.name != BUILT_IN:
        raise StartError(f"{model.name} is not here yet; fetch it with: switchboard models pull {model.name}")
    if model.kind is Kind.SPEECH:
        return _use_speech(settings, model, folder)
    raise StartError(f"set EMBEDDING_MODEL_DIR={folder.of(model.name)} to use {model.name}")


def _use_speech(settings: Settings, model: PinnedModel, folder: ModelFolder) -> int:
    if settings.whisper_model_dir:
        raise StartError(f"WHISPER_MODEL_DIR names the speech model; unset it to use {model.name}")
    folder.use_speech(model.name)
    print(
        f"{model.name} recognises speech from the next start on; it needs: pip install 'switchboard[whisper]'"
    )
    return 0


def _model(name: str) -> PinnedModel:
    model = model_named(name)
    if model is None:
        names = ", ".join(each.name for each in MODELS)
        raise StartError(f"there is no model '{name}'; there are: {names}")
    return model
