"""The models that the tests of one run share as files of ONNX: exporting takes seconds."""

import os

import pytest

from adapters.outbound.knowledge.embedding.exports import Exports


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    folder = tmp_path_factory.getbasetemp()
    return Exports((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "exported")
