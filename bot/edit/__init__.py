"""Room 4: the change. A spec becomes syntax-tree edits, or a typed refusal; nothing in between."""
