"""Faces are found by class, and the first answer holds."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ports.channels import Replies, Webhook
from ports.faces import Face


def test_a_class_is_asked_once() -> None:
    class Sings:
        def sing(self) -> str:
            return "la"

    @runtime_checkable
    class Singer(Protocol, metaclass=Face):
        def sing(self) -> str: ...

    assert isinstance(Sings(), Singer)
    assert not isinstance(object(), Singer)
    del Sings.sing
    assert isinstance(Sings(), Singer)


def test_faces_do_not_answer_for_each_other() -> None:
    class OnlyHears:
        def receive(self, config: object, call: object, known: object, now: object) -> None: ...

    assert isinstance(OnlyHears(), Webhook)
    assert not isinstance(OnlyHears(), Replies)
    assert isinstance(OnlyHears(), Webhook)
