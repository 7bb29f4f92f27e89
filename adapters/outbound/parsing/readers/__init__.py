"""One reader for each family of formats; they run in the fenced child alone."""
