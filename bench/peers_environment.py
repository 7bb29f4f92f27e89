"""An environment of its own for the peers, whose requirements clash with ours."""

import subprocess
import sys

from bench.measuring import ROOT

FOLDER = ROOT / ".venv-bench"
REQUIREMENTS = ROOT / "bench/peers/requirements.txt"


def peers_python() -> str:
    """The interpreter of the peers; made on first use."""
    interpreter = FOLDER / "bin/python"
    stamp = FOLDER / ".installed"
    if not stamp.is_file() or stamp.read_text() != REQUIREMENTS.read_text():
        print("installing the peers into .venv-bench", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        command = [str(interpreter), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
        subprocess.run(command, check=True)
        stamp.write_text(REQUIREMENTS.read_text())
    return str(interpreter)
