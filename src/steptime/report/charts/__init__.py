"""Draws charts with matplotlib: one kind a file. Imported only where a picture is wanted, as it costs a second."""
