"""The Ecdysis bot: makes an agent harness better by itself, in git."""

__version__ = "0.1.0"
