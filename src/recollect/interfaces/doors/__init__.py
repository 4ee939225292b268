"""Parts of the Python door, one a capability: ``Recollect`` is all of them together."""
