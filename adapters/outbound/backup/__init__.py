"""A backup: one tar file that holds the database, the stored files, the generated keys and a list of it all."""
