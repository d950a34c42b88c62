"""The command line: a table of commands, their options, and the only module that prints."""
