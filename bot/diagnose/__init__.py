"""Room 3: why. The catalog of repair operators, which needs no model, proposes specs."""
