"""What people read: pages build a Document from records, renderers turn it into text or HTML. No TensorFlow."""
