"""Foundation: the only place that runs git. Plumbing alone; the user's index is never used."""
