"""Put first on the path of a process: it finds the libraries of requirements-gateway.lock alone, as in the image."""

import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions
from pathlib import Path

LOCK = Path(__file__).parents[3] / "requirements-gateway.lock"


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


class Absent(MetaPathFinder):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}, as in the gateway's image", name=fullname
            )


present = {line.partition("==")[0] for line in LOCK.read_text().splitlines() if "==" in line} | {
    "switchboard"
}
sys.meta_path.insert(
    0,
    Absent(
        {
            name
            for name, owners in packages_distributions().items()
            if not any(_plain(owner) in present for owner in owners)
        }
    ),
)
