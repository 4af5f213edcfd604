"""The endpoint worker: the code that talks to a driver, in a process of its own."""
