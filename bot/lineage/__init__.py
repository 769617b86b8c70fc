"""Room 6: where it lives. Generations as branches, commits, trailers, notes and refs of git."""
