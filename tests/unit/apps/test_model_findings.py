"""What the doctor says of the embedding model: whether it is there in the form in which it is computed."""

from pathlib import Path

import pytest

from apps import findings
from apps.findings import KnowledgeState
from apps.settings_loading import load
from domain.monitoring.model import Finding, Grade


def said(subject: str, folder: Path) -> tuple[Grade, str]:
    settings = load({"EMBEDDING_PREPARED_DIR": str(folder)}, env_file=None)
    [found] = [each for each in findings.of_machine(settings) if each.subject == subject]
    return found.grade, found.text


@pytest.mark.parametrize(("torch", "grade"), [(True, Grade.NOTE), (False, Grade.FAIL)])
def test_a_prepared_folder_that_is_no_use_is_told(
    torch: bool, grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "can_prepare", lambda: torch)
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name, fault in (
        ("absent", "No such file"),
        ("file", "Not a directory"),
        ("empty", "no prepared model"),
    ):
        found, text = said("EMBEDDING_PREPARED_DIR", tmp_path / name)
        assert found is grade
        assert fault in text
        assert "correct it" in text
    (tmp_path / "empty" / "0.1.onnx").write_bytes(b"")
    assert said("EMBEDDING_PREPARED_DIR", tmp_path / "empty")[0] is Grade.OK


def said_of_model(*, prepared: bool, **settings: str) -> list[Finding]:
    state = KnowledgeState({}, "all-MiniLM-L6-v2", 0, 0, 0, None, (), prepared)
    found = findings.of_knowledge(load(settings, env_file=None), state)
    return [each for each in found if each.subject == "model"]


def test_a_model_that_nothing_here_can_prepare_is_told_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "can_prepare", lambda: False)
    assert not said_of_model(prepared=True)
    [found] = said_of_model(prepared=False)
    assert found.grade is Grade.FAIL
    assert "target `full`" in found.text


@pytest.mark.parametrize(
    ("at_start", "told"), [("true", "in the background"), ("false", "the first file or search")]
)
def test_a_model_that_is_not_prepared_yet_is_told_with_what_prepares_it(
    at_start: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "can_prepare", lambda: True)
    [found] = said_of_model(prepared=False, EMBEDDING_PREPARE_AT_START=at_start)
    assert found.grade is Grade.NOTE
    assert "is not prepared on this machine yet" in found.text
    assert told in found.text


def test_the_image_without_pytorch_has_a_sound_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "can_prepare", lambda: False)
    assert said("model", tmp_path)[0] is Grade.OK
