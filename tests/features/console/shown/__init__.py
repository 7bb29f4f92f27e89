"""Pages with something on them, one module for each area: `pages(world)` makes what they show, as the user "admin",
and gives their paths."""
