"""Rows go by age: the rules, what runs them, and what owns every table."""
