"""Asks every probe, and turns what fails or would take too long into a reason."""

import dataclasses
import random
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from steptime.engine.inspection import callbacks, data, heads, input_path, layers, pipeline, trace, validation
from steptime.engine.inspection.fits import PastFits
from steptime.engine.inspection.subject import UNBUILT, NotKnown, Subject
from steptime.engine.request import FitRequest
from steptime.record.model_facts import ModelFacts

# Probes that can take long come last, and are left out when this is used up; none takes more than about half of it.
_BUDGET_S = 1.0

Probe = Callable[[Subject], Any]
# Fact -> probe, cheap ones first.
PROBES: Mapping[str, Probe] = {
    "fits": data.read_fits,
    "source": data.read_source,
    "eager": layers.read_eager,
    "gpus": layers.read_gpus,
    "callbacks": callbacks.read_callbacks,
    "xla": layers.read_xla,
    "trainable": layers.read_trainable,
    "pipeline": pipeline.read_pipeline,
    "batch": data.read_batch,
    "arrays": data.read_arrays,
    "heads": heads.read_heads,
    "optimizer": layers.read_optimizer,
    "parameters": layers.read_parameters,
    "batch_norms": layers.read_batch_norms,
    "flat_dense": layers.read_flat_dense,
    "embeddings": layers.read_embeddings,
    "rnns": layers.read_rnns,
    "labels": data.read_labels,
    "label_order": data.read_label_order,
    "split": validation.read_split,
    "inputs": input_path.read_inputs,
    "validation": validation.read_validation,
    "without_gradient": trace.read_without_gradient,
}


def gather(model: keras.Model, request: FitRequest, *, past: PastFits | None = None) -> ModelFacts:
    """Read the facts before a fit.

    Nothing is changed: no weight, no metric, no iterator, no random state. Large arrays are read in part.

    Args:
        model: The model, compiled.
        request: The arguments of the fit.
        past: Earlier fits in this process, for lints about fits in a row.

    Returns:
        What could be read; a probe that fails leaves a reason and raises nothing.
    """
    subject = Subject(model=model, request=request, past=past or PastFits())
    return _ask(subject, PROBES)


def complete(facts: ModelFacts, model: keras.Model, request: FitRequest) -> ModelFacts:
    """Read, after a fit, the facts that needed a built model.

    Args:
        facts: What `gather` returned before the fit.
        model: The model, which has trained since.
        request: The arguments of the fit.
    """
    open_facts = {
        name: PROBES[name] for name, reason in facts.unknown.items() if reason == UNBUILT and name in PROBES
    }
    if not open_facts:
        return facts
    later = _ask(Subject(model=model, request=request), open_facts)
    return dataclasses.replace(
        facts,
        values={**facts.values, **later.values},
        unknown={
            **{name: why for name, why in facts.unknown.items() if name not in open_facts},
            **later.unknown,
        },
        gathered_s=facts.gathered_s + later.gathered_s,
    )


def _ask(subject: Subject, probes: Mapping[str, Probe]) -> ModelFacts:
    values: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    begin_s = time.perf_counter()
    # A person's call() may draw from these when it is traced.
    states = random.getstate(), np.random.get_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, probe in probes.items():
                if time.perf_counter() - begin_s > _BUDGET_S:
                    unknown[name] = "looking for it would have taken too long"
                    continue
                try:
                    values[name] = probe(subject)
                except NotKnown as reason:
                    unknown[name] = str(reason)
                except Exception as error:  # noqa: BLE001 - objects of all kinds are passed to fit; no lint may stop it
                    unknown[name] = (
                        f"it could not be read: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
                    )
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
    return ModelFacts(values=values, unknown=unknown, gathered_s=time.perf_counter() - begin_s)
