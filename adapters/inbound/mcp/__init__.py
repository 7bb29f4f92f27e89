"""MCP: tools and resources for AI clients, over streamable HTTP."""
