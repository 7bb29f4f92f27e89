"""Rows for COPY in PostgreSQL's binary form, which the server takes in a fraction of the time of its text form.

https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
"""

from collections.abc import Iterable
from struct import Struct, pack

from adapters.outbound.storage.pool import Connection

_HEAD, _END = b"PGCOPY\n\xff\r\n\0" + pack(">ii", 0, 0), pack(">h", -1)
_COUNT, _LENGTH = Struct(">h").pack, Struct(">i").pack
_WRITTEN_BYTES = 1 << 18


def packed_row(*fields: bytes) -> bytes:
    """One row of fields in their types' binary form, none of them null."""
    return b"".join(
        [_COUNT(len(fields)), *[part for field in fields for part in (_LENGTH(len(field)), field)]]
    )


async def copy_rows(connection: Connection, into: str, rows: Iterable[bytes]) -> None:
    """`into` names a table and its columns."""
    async with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN (FORMAT binary)") as copy:
        await copy.write(_HEAD)
        held: list[bytes] = []
        length = 0
        for row in rows:
            held.append(row)
            length += len(row)
            if length > _WRITTEN_BYTES:
                await copy.write(b"".join(held))
                held, length = [], 0
        await copy.write(b"".join(held))
        await copy.write(_END)
