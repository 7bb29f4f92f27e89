"""A port that cannot be opened is told by the settings that say which."""

import pytest

from apps.processes.starting import StartError, listen


@pytest.mark.parametrize("setting", ["HTTP_PORT", "GRPC_PORT", "METRICS_PORT"])
def test_an_address_of_another_machine_names_both_settings(setting: str) -> None:
    host = setting.replace("PORT", "HOST")
    with pytest.raises(StartError, match=f"cannot listen on 192.0.2.1:9: .*; check {host} and {setting}"):
        listen("192.0.2.1", 9, setting)


def test_a_port_that_is_taken_names_its_setting() -> None:
    with listen("127.0.0.1", 0, "METRICS_PORT") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"port {port} on 127.0.0.1 is in use; .* set METRICS_PORT"):
            listen("127.0.0.1", port, "METRICS_PORT")
