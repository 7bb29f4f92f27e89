"""Turns uploaded files into documents, each in a fenced child process of its own."""
