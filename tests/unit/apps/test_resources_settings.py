"""Resources from the settings: where rules and their tokens come from."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.system.event_bus import EventBus
from apps.compose.work import Resources, rules_of
from apps.processes.components import RulesComponent
from apps.setting_types import SettingsError
from apps.settings import Settings
from apps.settings_loading import load
from domain.routing.model import RunResult
from tests.support.runs import Knowledge, NoAgents, Remembered, States, Tasks, a_request

RULE = (
    '[[rule]]\nmatch = "agent::a"\nkind = "http"\nurl = "http://127.0.0.1:9/"\ntoken_env = "RUNNER_TOKEN"\n'
)


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy())
    yield client
    await client.close()


def made(given: Settings, http: AioHttp) -> Resources:
    bus = EventBus(solitary=True)
    return Resources(given, http, Remembered(), States(), NoAgents(), bus, Tasks(), Knowledge())


def settings(folder: Path, rules: str, environment: dict[str, str], env_file: str = "") -> Settings:
    (folder / "resources.toml").write_text(rules, "utf-8")
    (folder / ".env").write_text(env_file, "utf-8")
    return load({"RESOURCES_FILE": str(folder / "resources.toml"), **environment}, folder / ".env")


def test_without_a_file_there_are_no_rules() -> None:
    assert len(rules_of(load({}, None))) == 0


def test_a_token_may_stand_in_the_environment_or_in_the_env_file(tmp_path: Path) -> None:
    assert len(rules_of(settings(tmp_path, RULE, {"RUNNER_TOKEN": "x"}))) == 1
    assert len(rules_of(settings(tmp_path, RULE, {}, "RUNNER_TOKEN=x\n"))) == 1


@pytest.mark.parametrize(
    ("rules", "fault"),
    [(RULE, "line 5: .*RUNNER_TOKEN, which is not set"), ("[[rule]]\n", "line 1: match is missing")],
)
def test_a_fault_names_the_setting_the_file_and_the_line(tmp_path: Path, rules: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=f"RESOURCES_FILE: .*resources.toml: {fault}"):
        rules_of(settings(tmp_path, rules, {}))


def test_the_environment_is_not_shown(tmp_path: Path) -> None:
    assert "s3cret" not in repr(settings(tmp_path, RULE, {"RUNNER_TOKEN": "s3cret"}))


async def test_the_resources_of_an_installation_without_settings_are_the_built_ins(http: AioHttp) -> None:
    resources = made(load({}, None), http)
    resources.load()

    assert await resources.runner.run(a_request("agent::echo")) == RunResult("How late is it?")
    assert "No resource is connected" in (await resources.runner.run(a_request("agent::a"))).text
    await resources.close()


async def test_a_bad_file_keeps_the_resources_from_loading(http: AioHttp, tmp_path: Path) -> None:
    resources = made(settings(tmp_path, "[[rule]]\n", {}), http)

    with pytest.raises(SettingsError, match="RESOURCES_FILE"):
        resources.load()


@pytest.mark.parametrize("network", ["10.0.0.1/8", "ten"])
def test_a_network_that_the_policy_cannot_read_is_a_fault_of_the_settings(network: str) -> None:
    with pytest.raises(SettingsError, match="OUTBOUND_ALLOW"):
        load({"OUTBOUND_ALLOW": network}, None)


async def test_a_core_shows_the_fault_of_its_rules_and_serves_all_the_same(
    http: AioHttp, tmp_path: Path
) -> None:
    given = settings(tmp_path, "[[rule]]\n", {})
    resources = made(given, http)
    component = RulesComponent(Core(resources))  # type: ignore[arg-type]

    await component.start()
    assert "line 1: match is missing" in (await resources.directory.rules()).fault
    settings(tmp_path, RULE.replace('token_env = "RUNNER_TOKEN"\n', ""), {})
    component.reload()
    shown = await resources.directory.rules()
    assert (shown.fault, [rule.match for rule in shown.rules][:1]) == ("", ["agent::a"])
    await component.stop()


class Core:
    """The one thing that the component asks a container for."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def resources(self) -> Resources:
        return self._resources
