"""Numbers and randomness: where every random bit comes from, and where nothing is rounded by accident."""
