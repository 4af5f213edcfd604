"""What a memory window lends of a region, to whom, and for how long."""
