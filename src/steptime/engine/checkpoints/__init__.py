"""Checkpoints from which a training goes on as if it had never been interrupted.

policy    what a person asks for
session   what a `fit` talks to: takes checkpoints when they are due
former    the checkpoint that a training goes on from
snapshot  the state of a training as arrays and plain values, taken and put back
identity  what must be the same for a training to go on
format    the files of one checkpoint, written so that it exists whole or not at all
writer    writes beside the training, and removes what need not be kept
"""
