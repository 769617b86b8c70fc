"""One reader a format: from foreign records to episodes."""
