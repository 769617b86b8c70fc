"""Room 1: what happened. Runs tasks on a harness revision, or reads trajectories made elsewhere."""
