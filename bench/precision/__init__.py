"""PrecisionMemBench: its cases, how a store and a plain text index answer them, and how the answers are judged."""
