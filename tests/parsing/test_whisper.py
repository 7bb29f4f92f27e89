"""Speech by Whisper, with the library and its model played: they are an optional extra."""

import sys
import types
from dataclasses import dataclass

import numpy
import pytest

from adapters.outbound.knowledge.parsing.formats import supported_formats
from adapters.outbound.knowledge.parsing.readers import sound as speech
from domain.knowledge.documents import Format


@dataclass
class Speech:
    start: float
    end: float
    text: str


@pytest.fixture
def model_dir(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    return tmp_path


@pytest.fixture
def whisper(monkeypatch):
    asked = {}

    class WhisperModel:
        def __init__(self, directory, **options):
            asked.update(options, directory=directory)

        def transcribe(self, samples, **options):
            asked.update(options, seconds=len(samples) / speech.SAMPLE_RATE)
            return iter([Speech(0.0, 1.5, " Hello there."), Speech(1.5, 2.0, " Goodbye.")]), object()

    monkeypatch.setitem(sys.modules, "faster_whisper", types.SimpleNamespace(WhisperModel=WhisperModel))
    return asked


async def test_the_model_is_read_from_its_directory_alone(whisper, model_dir):
    engine, heard = speech.segments(numpy.zeros(32_000, dtype=numpy.float32), str(model_dir))

    assert list(heard) == [speech.Segment(0.0, 1.5, "Hello there."), speech.Segment(1.5, 2.0, "Goodbye.")]
    assert engine == f"faster-whisper {model_dir.name}"
    assert whisper["directory"] == str(model_dir)
    assert whisper["local_files_only"] is True
    assert whisper["seconds"] == 2.0


async def test_a_directory_without_a_tokenizer_is_never_loaded(whisper, tmp_path):
    with pytest.raises(ImportError, match="holds no tokenizer"):
        speech.segments(numpy.zeros(10, dtype=numpy.float32), str(tmp_path))

    assert whisper == {}


async def test_what_is_missing_is_said_beforehand(model_dir, tmp_path_factory):
    without_library = {entry.format: entry for entry in supported_formats(str(model_dir))}
    without_model = {
        entry.format: entry for entry in supported_formats(str(tmp_path_factory.mktemp("empty")))
    }

    assert not without_library[Format.MP3].available
    assert "pip install faster-whisper" in without_library[Format.MP3].how
    assert "tokenizer.json is missing" in without_model[Format.WAV].how
    assert without_model[Format.PDF].available
