"""The samples of all channels of the registry."""

import importlib
from pathlib import Path

from adapters.outbound.channels.tests.sample import Sample

ROOT = Path(__file__).parents[2]


def sample_of(channel_id: str) -> Sample:
    """The sample of a channel's folder."""
    name = f"adapters.outbound.channels.{channel_id.replace('-', '_')}.tests.samples"
    sample: Sample = importlib.import_module(name).SAMPLE
    return sample
