"""One reader for each family of formats; they run in the sandboxed child alone."""
