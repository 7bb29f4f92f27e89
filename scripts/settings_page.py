"""Prints the tables of docs/settings.md from the settings themselves, and writes their names for the chart."""

from __future__ import annotations

from pathlib import Path

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from apps.setting_types import SIGN_IN_ADDRESSES
from apps.settings import names
from ports.http import HttpAnswer

CHART_FILE = Path(__file__).parent.parent / "deploy/helm/switchboard/files/settings.txt"


def _shown(default: object) -> str:
    if default is None or default == "":
        return "empty"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def channel_addresses() -> dict[str, str]:
    """The addresses of all channels, with their defaults."""
    registry = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}"))))
    return {address.setting: address.default for channel in registry.all() for address in channel.addresses}


def chart_file() -> str:
    """Every setting, a line each; the chart names those of its values that are none."""
    return "".join(f"{name}\n" for name in sorted({*names(), *SIGN_IN_ADDRESSES, *channel_addresses()}))


def main() -> None:
    CHART_FILE.write_text(chart_file(), encoding="utf-8")
    print("| Setting | Default | Meaning |\n|---|---|---|")
    for name, field in names().items():
        print(f"| `{name}` | {_shown(field.default)} | {field.description} |")
    print("\n| Setting | Default |\n|---|---|")
    for name, default in (channel_addresses() | SIGN_IN_ADDRESSES).items():
        print(f"| `{name}` | {f'`{default}`' if default else 'from COMMUNITY_CHAT_SERVER_URL'} |")


if __name__ == "__main__":
    main()
