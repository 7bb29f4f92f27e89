"""A gateway and a core of two versions beside each other understand each other: nothing that the released one uses
was removed, renumbered or changed in its type."""

from collections.abc import Callable

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.support.protos import breaking, described
from tests.support.released import protos

Change = Callable[[FileDescriptorSet], object]


def test_the_services_understand_those_of_the_released_version() -> None:
    assert len(protos().file) > 10
    assert breaking(protos(), described()) == []


CHANGES: dict[str, tuple[Change, str]] = {
    "a message is removed": (lambda file: file.message_type.pop(0), "is gone"),
    "a field is removed": (lambda file: file.message_type[0].field.pop(), "is gone"),
    "a field is renamed": (lambda file: setattr(file.message_type[0].field[0], "name", "other"), "is gone"),
    "a field is renumbered": (
        lambda file: setattr(file.message_type[0].field[0], "number", 99),
        "number was",
    ),
    "a field changes its type": (lambda file: setattr(file.message_type[0].field[0], "type", 12), "type was"),
    "a field becomes a list": (lambda file: setattr(file.message_type[0].field[0], "label", 3), "label was"),
    "a method is removed": (lambda file: file.service[0].method.pop(), "was ("),
    "a method streams": (lambda file: setattr(file.service[0].method[0], "server_streaming", True), "was ("),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_would_break_a_released_peer_is_found(change: str) -> None:
    before = described()
    after = FileDescriptorSet()
    after.CopyFrom(before)
    [file] = [file for file in after.file if file.name.endswith("access.proto")]
    file.message_type.sort(key=lambda message: len(message.field), reverse=True)
    make, words = CHANGES[change]
    make(file)

    assert words in "\n".join(breaking(before, after))


def test_what_is_added_breaks_nothing() -> None:
    after = described()
    [file] = [file for file in after.file if file.name.endswith("access.proto")]
    file.message_type[0].field.add(name="added", number=999, type=9, label=1)
    file.message_type.add(name="Added")

    assert breaking(described(), after) == []
