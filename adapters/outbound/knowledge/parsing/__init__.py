"""Turns uploaded files into documents, each in a sandboxed child process of its own."""
