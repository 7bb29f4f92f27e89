"""Notifications: what users have to know, and the ways by which they learn it."""
