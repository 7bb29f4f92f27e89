"""API keys."""

from collections.abc import Sequence
from typing import Protocol

from domain.access.model import ApiKey, Role


class KeyStore(Protocol):
    """API keys; only hashes of secrets come in here."""

    async def find(self, digest: bytes) -> ApiKey | None:
        """The live key with that hash."""
        ...

    async def add(self, user_id: str, role: Role, prefix: str, digest: bytes) -> ApiKey: ...

    async def list(self) -> Sequence[ApiKey]: ...

    async def revoke(self, key_id: int) -> bool:
        """False when there is no live key of that id."""
        ...
