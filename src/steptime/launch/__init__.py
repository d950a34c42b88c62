"""Starting workers: chooses the device, starts the process, watches it, and answers with its record."""
