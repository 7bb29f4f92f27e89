"""Text of PDF pages: characters, reading order, margins, tables of contents, titles."""
