"""Room 2: what keeps going wrong. Episodes become failure events, events become patterns."""
