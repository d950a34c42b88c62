"""Training on several devices and in several processes, through `tf.distribute`.

The engines are TensorFlow's; what is decided here is who computes which samples, how they count, and who
reads and writes what, so that a training comes out as on one device.
"""
