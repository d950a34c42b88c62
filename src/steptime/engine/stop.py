"""How a training is asked to end."""


class StopRequested(BaseException):
    """Somebody asked the training to stop, and what was trained is to be kept.

    Like KeyboardInterrupt it is no Exception, so that no person's ``except Exception`` can swallow it.
    """
