"""What is the vault's own: its record, its words, its write gate, its search and its views. All of it pure."""
