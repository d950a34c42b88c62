"""What is expected of a way of executing steps, and what was measured of it: plain data."""

from dataclasses import dataclass

# Below this difference two measured step times count as equal, and the earlier candidate stays.
NOISE_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is expected of a candidate before it was ever run.

    Attributes:
        loop: Its name.
        impossible: Why it cannot be run at all, naming layer or operation; None when it can.
        over: The candidate whose step time the expectation is based on; None for the first.
        step_share: Expected step time as a share of that candidate's.
        saved_s: Expected saving a step beyond that, in s.
        compile_share: Expected compile time as a share of the first candidate's.
        compile_s: Expected compile time beyond that, in s.
        likely: Whether experience is so uniform that an expected gain alone justifies trying; otherwise the
            cost must also be covered if the trial fails.
        margin_share: Must be faster than the best so far by this share to be preferred; negative when it is
            preferred unless it is slower by that share.
    """

    loop: str
    impossible: str | None = None
    over: str | None = None
    step_share: float = 1.0
    saved_s: float = 0.0
    compile_share: float = 0.0
    compile_s: float = 0.0
    likely: bool = False
    margin_share: float = NOISE_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known of a candidate that was run.

    Attributes:
        step_s: Time of a step, in s, in the fastest piece of its trial: other processes only ever add time.
            None until steps were timed.
        compile_s: Time of its first step including tracing, compiling and comparing, in s.
    """

    step_s: float | None
    compile_s: float
