"""One command a file: ``add_arguments(parser)`` and ``run(options) -> exit code``."""
