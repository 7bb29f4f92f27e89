"""Markdown in each platform's own markup, split into messages, and as a tree for web pages."""

from adapters.outbound.rendering.cards import literal_body
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.nodes import markdown_nodes
from adapters.outbound.rendering.rendering import GrowingText, render

__all__ = ["GrowingText", "Markup", "Rendered", "literal_body", "markdown_nodes", "render"]
