"""Search quality on judged collections."""
