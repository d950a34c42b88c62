"""What happened: the record of a run, its schema, and the folder it lives in. Knows nothing of TensorFlow."""
