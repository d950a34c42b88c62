"""Built-in jobs, reached by name exactly as a person's own file is: each module has create_model() and load_data()."""
