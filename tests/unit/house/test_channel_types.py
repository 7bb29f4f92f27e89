"""mypy refuses a channel whose capability is misspelt, lacks a method or takes other types."""

import contextlib
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[3]
CHANNEL = """
from dataclasses import dataclass
from domain.values import value
from domain.channels.messages import Sent
from domain.channels.model import ChannelDefinition
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel
from ports.channels import Channel

@dataclass(frozen=True, slots=True, kw_only=True)
class PagerConfig(ChannelConfig):
    number: str = ""

@value
class PagerTarget(ChannelTarget):
    to: str = ""

class Typing:
    typing_seconds = 4.0

    async def {method}(self, config: {config}, target: PagerTarget) -> Sent | None:
        return None

def build(definition: ChannelDefinition) -> Channel[PagerConfig, PagerTarget]:
    return Channel(
        definition=definition,
        config=ConfigModel(PagerConfig),
        target=JsonModel(PagerTarget),
        {capability}=Typing(),
    )
"""


MISSPELT = {
    "no name": ({}, ""),
    "the capability": ({"capability": "typng"}, 'Unexpected keyword argument "typng"'),
    "the method": ({"method": "typng"}, 'Argument "typing" to "Channel" has incompatible type "Typing"'),
    "the config": (
        {"config": "dict[str, str]"},
        'Argument "typing" to "Channel" has incompatible type "Typing"',
    ),
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The errors of mypy in each channel: one run for all of them, which reads the product once."""
    folder = tmp_path_factory.mktemp("channels")
    paths = {name: folder / f"pager_{number}.py" for number, name in enumerate(MISSPELT)}
    usual = {"method": "typing", "config": "PagerConfig", "capability": "typing"}
    for name, (written, _) in MISSPELT.items():
        paths[name].write_text(CHANNEL.format(**{**usual, **written}))
    with contextlib.chdir(ROOT):
        options = ["--config-file", "pyproject.toml", "--cache-dir", str(folder / "cache")]
        report, failure, _ = api.run([*options, *map(str, paths.values())])
    assert not failure
    return {
        name: "\n".join(line for line in report.splitlines() if path.name in line)
        for name, path in paths.items()
    }


@pytest.mark.parametrize("misspelt", MISSPELT)
def test_a_channel_with_a_misspelt_name_is_refused(errors: dict[str, str], misspelt: str) -> None:
    _, error = MISSPELT[misspelt]
    assert error in errors[misspelt]
    assert bool(error) == bool(errors[misspelt])
