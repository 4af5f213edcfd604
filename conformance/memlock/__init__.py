"""What pinned memory costs, and who may pin how much."""
