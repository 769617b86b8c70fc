"""Models: endpoint, budget, the proxy between harness and model, the embedded model."""
