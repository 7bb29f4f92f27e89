"""The list of cores in CORE_TARGET."""

import pytest

from adapters.outbound.core_client.cores import Target, parse_targets


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("core:50051", (Target("core", 50051),)),
        ("core-1:50051, core-2:50052,", (Target("core-1", 50051), Target("core-2", 50052))),
        ("10.0.0.1:50051,[::1]:50051", (Target("10.0.0.1", 50051), Target("::1", 50051))),
        ("ipv4:10.0.0.1:50051,10.0.0.2:50051", (Target("10.0.0.1", 50051), Target("10.0.0.2", 50051))),
        ("dns:///cores:50051", (Target("cores", 50051, all_addresses=True),)),
        ("dns:cores:50051", (Target("cores", 50051, all_addresses=True),)),
        ("unix:/run/core.sock", (Target(path="/run/core.sock"),)),
        ("unix:///run/core.sock", (Target(path="/run/core.sock"),)),
    ],
)
def test_all_forms_are_read(text: str, targets: tuple[Target, ...]) -> None:
    assert parse_targets(text) == targets


@pytest.mark.parametrize(
    "entry",
    ["core", "core:grpc", "core:0", "core:99999", ":50051", "http://core:50051", "dns://1.1.1.1/core:50051"],
)
def test_another_form_is_named_with_examples(entry: str) -> None:
    with pytest.raises(ValueError, match="; write core:50051") as raised:
        parse_targets(f"core-1:50051,{entry}")
    assert f"'{entry}'" in str(raised.value)


def test_an_entry_is_named_once() -> None:
    with pytest.raises(ValueError, match="names core:50051 twice"):
        parse_targets("core:50051,core:50051")
