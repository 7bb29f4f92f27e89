"""Reports: what happened on each day, by instance and colleague."""
