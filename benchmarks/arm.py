"""One measured training in a process of its own: `python arm.py JOB keras|steptime --rows N --epochs N`.

Prints one line of JSON. The first call trains one epoch on a model just built and is timed as a whole:
tracing, compiling, choosing. The second trains the steady epochs. Importing and preparing data are not timed.
"""

import argparse
import json
import resource
import sys
import time

import keras

import steptime
from clock import BatchClock, BlockClock, summary
from zoo import JOBS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=[job.name for job in JOBS])
    parser.add_argument("way", choices=["keras", "steptime"])
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    asked = parser.parse_args()
    job = next(job for job in JOBS if job.name == asked.job)
    keras.utils.set_random_seed(1)
    model = job.build()
    fit = steptime.fit if asked.way == "steptime" else keras.Model.fit
    arguments = job.data(asked.rows)
    begin_ns = time.perf_counter_ns()
    first = fit(model, **arguments, epochs=1, verbose=0)
    call_s = (time.perf_counter_ns() - begin_ns) / 1e9
    clock = BlockClock() if asked.way == "steptime" else BatchClock()
    observed = {"observer": clock} if asked.way == "steptime" else {}
    arguments = job.data(asked.rows)
    second = fit(model, **arguments, epochs=asked.epochs, verbose=0, callbacks=[clock], **observed)
    print(
        json.dumps(
            {
                "call_s": call_s,
                **summary(clock),
                "loss": [*first.history["loss"], *second.history["loss"]],
                "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                * (1 if sys.platform == "darwin" else 1024),
                "chosen": [str(h.steptime) for h in (first, second)] if asked.way == "steptime" else [],
                "loop": second.steptime.loop if asked.way == "steptime" else "keras",
            }
        )
    )


if __name__ == "__main__":
    main()
