"""Where a run happens: reads processors, GPUs and the machine, and never imports TensorFlow."""
