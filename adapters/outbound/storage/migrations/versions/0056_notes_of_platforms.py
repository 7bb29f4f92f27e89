"""What a platform told when the configuration of an instance was tried, such as how many mails lie in a mailbox."""

from alembic import op

revision = "0056_notes_of_platforms"
down_revision = "0055_chinese_words"


def upgrade() -> None:
    op.execute("ALTER TABLE instance_health ADD COLUMN note text")
