"""The grounding gate: whether a language model's proposal is in the memories that it was made from."""
