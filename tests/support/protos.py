"""The descriptors of the gRPC services, and what a change of them breaks between two versions."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

GENERATED = Path(__file__).parents[2] / "proto/gen"


def described() -> FileDescriptorSet:
    """Of every generated module."""
    found = FileDescriptorSet()
    for path in sorted(GENERATED.rglob("*_pb2.py")):
        name = ".".join(path.relative_to(GENERATED).with_suffix("").parts)
        importlib.import_module(name).DESCRIPTOR.CopyToProto(found.file.add())
    return found


def breaking(before: FileDescriptorSet, after: FileDescriptorSet) -> list[str]:
    """What a peer that was made from `before` relies on, and `after` lacks or means otherwise."""
    new = {file.name: file for file in after.file}
    return [
        fault for file in before.file for fault in _of_file(file, new.get(file.name, FileDescriptorProto()))
    ]


def _of_file(old: FileDescriptorProto, new: FileDescriptorProto) -> Iterator[str]:
    yield from _of_messages(f"{old.package}.", old.message_type, new.message_type)
    yield from _of_enums(f"{old.package}.", old.enum_type, new.enum_type)
    services = {service.name: service for service in new.service}
    for service in old.service:
        yield from _of_service(service, services.get(service.name, ServiceDescriptorProto()))


def _of_messages(where: str, old: Iterator[DescriptorProto], new: Iterator[DescriptorProto]) -> Iterator[str]:
    now = {message.name: message for message in new}
    for message in old:
        name = where + message.name
        found = now.get(message.name)
        if found is None:
            yield f"{name} is gone"
            continue
        fields = {field.name: field for field in found.field}
        for field in message.field:
            yield from _of_field(f"{name}.{field.name}", _traits(message, field), field, fields, found)
        yield from _of_messages(f"{name}.", message.nested_type, found.nested_type)
        yield from _of_enums(f"{name}.", message.enum_type, found.enum_type)


def _of_field(
    name: str,
    before: Mapping[str, object],
    field: FieldDescriptorProto,
    fields: Mapping[str, FieldDescriptorProto],
    message: DescriptorProto,
) -> Iterator[str]:
    found = fields.get(field.name)
    if found is None:
        yield f"{name} is gone"
        return
    after = _traits(message, found)
    yield from (
        f"{name}: {trait} was {before[trait]}, is {after[trait]}"
        for trait in before
        if before[trait] != after[trait]
    )


def _traits(message: DescriptorProto, field: FieldDescriptorProto) -> dict[str, object]:
    return {
        "number": field.number,
        "type": FieldDescriptorProto.Type.Name(field.type),
        "label": FieldDescriptorProto.Label.Name(field.label),
        "type name": field.type_name,
        "presence": field.proto3_optional,
        "oneof": message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None,
    }


def _of_enums(
    where: str, old: Iterator[EnumDescriptorProto], new: Iterator[EnumDescriptorProto]
) -> Iterator[str]:
    now = {enum.name: {value.name: value.number for value in enum.value} for enum in new}
    for enum in old:
        values = now.get(enum.name, {})
        for value in enum.value:
            if values.get(value.name) != value.number:
                yield f"{where}{enum.name}.{value.name} was {value.number}, is {values.get(value.name)}"


def _of_service(old: ServiceDescriptorProto, new: ServiceDescriptorProto) -> Iterator[str]:
    methods = {method.name: _form(method) for method in new.method}
    for method in old.method:
        if methods.get(method.name) != _form(method):
            yield f"{old.name}.{method.name} was {_form(method)}, is {methods.get(method.name)}"


def _form(method: object) -> tuple[object, ...]:
    return tuple(
        getattr(method, name)
        for name in ("input_type", "output_type", "client_streaming", "server_streaming")
    )
