"""The training loop: Keras' own training, executed as fast as the machine allows."""
