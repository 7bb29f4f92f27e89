"""What was made with a key is found when the key is revoked."""

from adapters.outbound.storage.migrations.locks import make_index

revision = "0050_parents_of_keys"
down_revision = "0049_warnings_of_files"


def upgrade() -> None:
    make_index("api_key_by_parent", "api_key (parent_id) WHERE parent_id IS NOT NULL")
