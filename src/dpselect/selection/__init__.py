"""The best k of n noisy scores, drawn exactly and about as fast as a maximum."""
