"""Prints the tables of docs/settings.md from the settings themselves."""

from __future__ import annotations

from apps.platform_addresses import ADDRESSES
from apps.settings import names


def _shown(default: object) -> str:
    if default is None or default == "":
        return "empty"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def main() -> None:
    print("| Setting | Default | Meaning |\n|---|---|---|")
    for name, field in names().items():
        print(f"| `{name}` | {_shown(field.default)} | {field.description} |")
    print("\n| Setting | Default |\n|---|---|")
    for name, default in ADDRESSES.items():
        print(f"| `{name}` | {f'`{default}`' if default else 'from COMMUNITY_CHAT_SERVER_URL'} |")


if __name__ == "__main__":
    main()
