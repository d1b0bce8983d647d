"""What makes the vectors: one module a set, see `truth.vectors`."""
