"""Whether CONFIG_ENCRYPTION_KEY is the key that the database's configurations were encrypted with.

A value that the first process encrypted tells every later one.
"""

from collections.abc import Sequence

import psycopg
from sqlalchemy import select, update

from adapters.outbound.security.encryption import ConfigCipher, DecryptionError
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import channel_instance

KNOWN = "switchboard"

FINGERPRINTS = "SELECT substring(config FOR 4), count(*) FROM channel_instance GROUP BY 1"


class WrongKey(Exception):
    """The keys at hand do not open what is stored."""


def check_key(dsn: str, cipher: ConfigCipher) -> int:
    """The number of configurations that were encrypted with a key that is not at hand. Raises `WrongKey`.

    Of processes that start at once on a new database one leaves its value, and the others are held against it.
    """
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        unknown, known = 0, 0
        for fingerprint, count in connection.execute(FINGERPRINTS).fetchall():
            if cipher.knows(fingerprint):
                known += count
            else:
                unknown += count
        if _stored(connection) is None and (known or not unknown):
            connection.execute(
                "INSERT INTO key_check VALUES (1, %s) ON CONFLICT (id) DO NOTHING", (cipher.encrypt(KNOWN),)
            )
        encrypted = _stored(connection)
    if encrypted is None:
        raise WrongKey("the stored configurations were encrypted with another key")
    try:
        cipher.decrypt(encrypted)
    except DecryptionError as error:
        raise WrongKey("the database was set up with another key") from error
    return unknown


def replace_key(dsn: str, cipher: ConfigCipher) -> None:
    """From now on processes need the first key of `cipher`."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        connection.execute(
            "INSERT INTO key_check VALUES (1, %s) ON CONFLICT (id) DO UPDATE SET encrypted = excluded.encrypted",
            (cipher.encrypt(KNOWN),),
        )


async def encrypt_anew(database: Database, cipher: ConfigCipher) -> tuple[int, Sequence[int]]:
    """Encrypts with the newest key what an older one had encrypted: how many configurations, and the ids of those
    that cannot be decrypted."""
    count, unreadable = 0, []
    columns = channel_instance.c
    for instance_id, stored in await database.fetch(select(columns.id, columns.config).order_by(columns.id)):
        try:
            text = cipher.decrypt(stored)
        except DecryptionError:
            unreadable.append(instance_id)
            continue
        if not cipher.is_current(stored):
            unchanged = update(channel_instance).filter_by(id=instance_id, config=stored)
            count += await database.execute(unchanged.values(config=cipher.encrypt(text)))
    return count, unreadable


def _stored(connection: psycopg.Connection) -> bytes | None:
    row = connection.execute("SELECT encrypted FROM key_check").fetchone()
    return bytes(row[0]) if row else None
