"""One format a file: a function from a Document to text."""
