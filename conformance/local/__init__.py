"""What the owner of memory may do to it: scatter/gather lists of requester and receiver."""
