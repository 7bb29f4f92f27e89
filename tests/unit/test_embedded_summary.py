"""The one line that is told of a PostgreSQL program's output."""

import pytest

from adapters.outbound.storage.embedded.cluster import summary


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", "no output"),
        ("creating files\nsegmentation fault\n", "segmentation fault"),
        (
            (
                "running bootstrap script ...\n"
                "2026-03-01 10:00:00.000 UTC [7] FATAL:  could not write to file: No space left on device\n"
                "2026-03-01 10:00:00.001 UTC [7] PANIC:  cannot abort transaction 1, it was already committed\n"
                "child process was terminated by signal 6: Aborted\n"
            ),
            "FATAL:  could not write to file: No space left on device",
        ),
        (
            (
                "2026-03-01 10:00:00.000 UTC [7] LOG:  listening on Unix socket\n"
                "2026-03-01 10:00:00.000 UTC [7] LOG:  could not bind IPv4 address: Address already in use\n"
                "2026-03-01 10:00:00.000 UTC [7] HINT:  Is another postmaster already running on port 5432?\n"
                "2026-03-01 10:00:00.000 UTC [7] FATAL:  could not create any TCP/IP sockets\n"
            ),
            (
                "FATAL:  could not create any TCP/IP sockets; "
                "cause: LOG:  could not bind IPv4 address: Address already in use"
            ),
        ),
        (
            (
                "2026-03-01 10:00:00.000 UTC [9] FATAL:  the database system is starting up\n"
                "2026-03-01 10:00:00.100 UTC [7] PANIC:  could not locate a valid checkpoint record\n"
            ),
            "PANIC:  could not locate a valid checkpoint record",
        ),
    ],
)
def test_the_first_grave_line_and_its_cause(said: str, told: str) -> None:
    assert summary(said) == told
