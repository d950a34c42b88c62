"""One page a file: a function from records to a Document."""
