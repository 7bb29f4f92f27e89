"""The version of this installation, as its package says."""

from importlib.metadata import version

VERSION = version("switchboard")
