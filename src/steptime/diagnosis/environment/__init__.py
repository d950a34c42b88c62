"""Why TensorFlow does not use the GPU of a machine, or not well: one rule a file, listed in ``rules.RULES``."""
