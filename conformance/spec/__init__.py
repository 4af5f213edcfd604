"""The oracle: pure functions from a situation to its required outcome. Imports no pyverbs."""
