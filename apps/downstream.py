"""What stands behind resource ids, from the settings."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from adapters.outbound.resources.builtin import Builtins, Echo
from adapters.outbound.resources.grpc_runner import GrpcChannels
from adapters.outbound.resources.router import Retrying, Router, RuleModels, Runners, Timed
from adapters.outbound.resources.rules import BadRules, Rule
from adapters.outbound.resources.rules_file import Build, Directory, RulesFile
from apps.setting_types import SettingsError
from apps.settings import Settings
from ports.http import Http
from ports.resources import ChatHistory, Downstream, KnowledgeAnswers, KnowledgeReader


class Resources:
    """The rules file, the connections of the resources, and the router over both."""

    def __init__(
        self,
        settings: Settings,
        http: Http,
        history: ChatHistory,
        knowledge: KnowledgeAnswers,
        reader: KnowledgeReader,
    ) -> None:
        self._channels = GrpcChannels()
        builtins, seconds = Builtins(knowledge), float(settings.downstream_timeout)
        runners = Runners(http, self._channels, history, builtins, reader, _retrying)
        self.rules = _rules(settings, runners.build)
        self.models = RuleModels(self.rules, runners, seconds)
        self.directory = Directory(self.rules, settings.downstream_url, seconds)
        default = runners.for_url(settings.downstream_url) if settings.downstream_url else None
        self.router = Router(self.rules, builtins, default)
        self.runner: Downstream = Timed(self.router, seconds)

    def load(self) -> None:
        """Reads the rules. Raises `SettingsError`."""
        _load(self.rules)

    async def close(self) -> None:
        await self._channels.close()


def rules_of(settings: Settings) -> Sequence[Rule]:
    """The rules of RESOURCES_FILE, each checked and none put in force. Raises `SettingsError`."""
    rules = _rules(settings, lambda _: Echo())
    _load(rules)
    return rules.rules


def _rules(settings: Settings, build: Build) -> RulesFile:
    path = Path(settings.resources_file) if settings.resources_file else None
    return RulesFile(path, settings.environment.get, build)


def _load(rules: RulesFile) -> None:
    try:
        rules.load()
    except BadRules as error:
        raise SettingsError(f"RESOURCES_FILE: {error}") from error


def _retrying(inner: Downstream) -> Downstream:
    return Retrying(inner, sleep=asyncio.sleep, now=time.monotonic, chance=random.random)
