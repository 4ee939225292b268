"""What every SQL store shares: named queries, and the mapping between rows and the model."""
