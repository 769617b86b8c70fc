"""The order desk: the world that the agent's tools act on. Not part of the harness."""
