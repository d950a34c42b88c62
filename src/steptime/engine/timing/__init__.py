"""Short timings that take a training step apart, made in turns while the job trains."""
