"""Import and export: one file a foreign format, each a pure mapping between its records and candidates."""
