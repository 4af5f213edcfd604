"""What a peer may do to registered memory, and what it is told when it may not."""
