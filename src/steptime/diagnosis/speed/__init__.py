"""What costs a run time, and how much a remedy would save at most: one rule a file, listed in ``rules.RULES``."""
