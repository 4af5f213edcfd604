"""What registers, and what a registration is."""
