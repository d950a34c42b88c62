"""A script in the measured process: it runs as with ``python``, and its ``fit`` calls leave records."""
