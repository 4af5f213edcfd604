"""What is left of a registration when it ends, changes, or ends in the wrong order."""
