"""What confirms the vectors, by other methods than they are made by: one module a set, see `truth.vectors`."""
