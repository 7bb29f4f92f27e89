"""Writes what tests compare with into tests/released: `python scripts/released.py`, in the commit that gets the tag.

`revision` is the newest migration of the released version, `protos.binpb` the descriptors of its gRPC services
(google.protobuf.FileDescriptorSet).
"""

from __future__ import annotations

from pathlib import Path

from adapters.outbound.storage.migrate import head
from tests.support.protos import described

RELEASED = Path(__file__).parents[1] / "tests/released"


def main() -> None:
    (RELEASED / "revision").write_text(head() + "\n")
    (RELEASED / "protos.binpb").write_bytes(described().SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
