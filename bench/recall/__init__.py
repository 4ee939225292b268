"""What `bench/recall.py` is made of: the public sets, the measures, the rivals, and the table."""
