"""Names that look like settings and are none: they change nothing, and nobody would notice."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path

from apps.platform_addresses import CHANNEL_ADDRESSES, SIGN_IN_ADDRESSES
from apps.settings import Settings, names

PLUGINS = "switchboard.channels"
"""Entry points of channels from other packages, whose platforms have addresses of their own."""
CLOSE = 0.85
"""How much alike a variable of the environment must be to a setting to be a misspelt one: most are of others."""
ALIKE = 0.6
"""The same for a name in the `.env` file, which is this service's own."""


def unknown_settings(settings: Settings) -> Iterator[str]:
    """A sentence for each name of the `.env` file that is no setting, and for each variable of the environment that
    is nearly one."""
    known = {*names(), *SIGN_IN_ADDRESSES, *CHANNEL_ADDRESSES}
    readable = known | {f"{name}_FILE" for name in known}
    strange = {}
    for name in sorted(set(settings.environment) - readable):
        if name in settings.env_file_names:
            strange[name] = _alike(name, readable, ALIKE)
        elif alike := _alike(name, {other for other in readable if abs(len(other) - len(name)) < 3}, CLOSE):
            strange[name] = alike
    if not strange:
        return
    rules = ""
    with suppress(OSError, UnicodeDecodeError):  # rules that cannot be read are reported elsewhere
        rules = Path(settings.resources_file).read_text(encoding="utf-8") if settings.resources_file else ""
    has_plugins = bool(entry_points(group=PLUGINS))
    for name, alike in strange.items():
        if name in rules or (has_plugins and name.endswith("_URL")):
            continue
        place = "the file .env" if name in settings.env_file_names else "the environment"
        yield f"{name} in {place} is no setting" + (f"; did you mean {alike}?" if alike else "")


def _alike(name: str, settings: Iterable[str], least: float) -> str:
    """The setting that is most like the name, or an empty text."""
    return next(iter(get_close_matches(name, settings, 1, least)), "")
