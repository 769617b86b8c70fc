"""Room 5: does it help? Cheap checks first, then control against candidate on hidden tasks."""
