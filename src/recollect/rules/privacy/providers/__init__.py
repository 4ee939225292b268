"""Keys and tokens in the formats that providers have made recognisable, grouped by what the providers do."""
