"""What is asked: workload (what), settings (how), protocol (how long), plan (all three).

Pure data with checks; knows nothing of TensorFlow.
"""
