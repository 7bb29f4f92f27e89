"""Prints the table of docs/settings.md from the settings themselves."""

from __future__ import annotations

from dataclasses import fields

from apps.settings import ADDRESSES, Settings


def main() -> None:
    print("| Setting | Default | Meaning |\n|---|---|---|")
    for each in fields(Settings):
        if "name" in each.metadata:
            default = f"`{each.metadata['default']}`" if each.metadata["default"] else "empty"
            print(f"| `{each.metadata['name']}` | {default} | {each.metadata['meaning']} |")
    print("\n| Setting | Default |\n|---|---|")
    for name, default in ADDRESSES.items():
        print(f"| `{name}` | {f'`{default}`' if default else 'from COMMUNITY_CHAT_SERVER_URL'} |")


if __name__ == "__main__":
    main()
