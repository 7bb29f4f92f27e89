"""The fence: a nursery process that forks one limited child for each file."""
