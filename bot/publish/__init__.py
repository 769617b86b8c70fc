"""Who reviews it: the pull request of a generation, its comments, and what people answer."""
