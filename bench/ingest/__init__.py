"""Uploads end to end: throughput, memory, time until a file can be found."""
