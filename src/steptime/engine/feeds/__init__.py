"""Where a step's batch comes from: arrays addressed by position, or a stream read in order."""
