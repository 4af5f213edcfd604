"""Regions that are addressed from a number of their own, 0 among them."""
