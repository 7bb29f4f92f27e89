"""Every step that a file goes through has words in the console, and stands in the description of the API."""

from adapters.inbound.console.pages.knowledge_files import STEPS
from adapters.inbound.rest.base_files import FileState
from domain.knowledge.model import FileStep


def test_every_step_of_a_file_has_words_in_the_console() -> None:
    assert set(STEPS) == set(FileStep)


def test_every_step_of_a_file_is_described() -> None:
    described, _ = FileState.model_json_schema()["properties"]["step"]["anyOf"]
    assert described["enum"] == [step.value for step in FileStep]
