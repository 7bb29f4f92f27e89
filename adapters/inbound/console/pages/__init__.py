"""The pages, one module for each purpose."""
