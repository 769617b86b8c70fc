"""Files that are not Python: whether an edit leaves them well-formed, and the rest of them alone.

Each format has a reader, text → `Node`; one comparison serves them all.
"""
