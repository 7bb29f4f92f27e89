"""Models that an installation may fetch: which there are, and how they come."""
