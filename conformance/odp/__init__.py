"""Registrations that pin nothing, and fetch their pages when the device needs them."""
