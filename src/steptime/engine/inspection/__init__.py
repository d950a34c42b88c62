"""Reads facts of a model and of what is passed to `fit`, for the lints: numbers and names only, nothing is changed."""

from steptime.engine.inspection.fits import PastFits
from steptime.engine.inspection.gather import complete, gather

__all__ = ["PastFits", "complete", "gather"]
