"""Measurements against baselines of the same run; each is started with `python -m bench.<name>`."""
