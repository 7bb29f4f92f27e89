"""What goes wrong with the embedded server, as one line that a user can act on."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message is one line that names the cause and the mend."""
