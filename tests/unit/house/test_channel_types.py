"""mypy refuses a channel whose capability is misspelt, lacks a method or takes other types."""

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


def errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **parts: str) -> str:
    path = tmp_path / "pager.py"
    path.write_text(
        CHANNEL.format(**{"method": "typing", "config": "PagerConfig", "capability": "typing", **parts})
    )
    monkeypatch.chdir(ROOT)
    report, _, _ = api.run(
        ["--config-file", "pyproject.toml", "--cache-dir", str(tmp_path / "cache"), str(path)]
    )
    return "" if "Success" in report else report


def test_a_channel_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors(tmp_path, monkeypatch) == ""


@pytest.mark.parametrize(
    ("part", "written", "error"),
    [
        ("capability", "typng", 'Unexpected keyword argument "typng"'),
        ("method", "typng", 'Argument "typing" to "Channel" has incompatible type "Typing"'),
        ("config", "dict[str, str]", 'Argument "typing" to "Channel" has incompatible type "Typing"'),
    ],
)
def test_a_misspelt_capability_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, written: str, error: str
) -> None:
    assert error in errors(tmp_path, monkeypatch, **{part: written})
