"""An agent for an order desk: everything around the model."""
