"""Real runs through the command line, shared by all tests that look at what a run leaves."""

import functools
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steptime.record.store import list_runs

# What the shared run and those that are compared with it have in common.
POINTS = ("points.py", "--epochs", "2", "--learning-rate", "0.02", "--loop", "keras")
WORKLOADS = Path(__file__).parents[1] / "data" / "workloads"


class Run(NamedTuple):
    """A command that ended, with the folder it left."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def record(self) -> dict[str, Any]:
        """The record as any program reads it."""
        content: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return content


Train = Callable[..., Run]


@pytest.fixture(scope="session")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Calls ``steptime train`` in a fresh process; never shows a traceback, unless asked."""

    def train(workload: str, *arguments: str) -> Run:
        here = tmp_path_factory.mktemp("train")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "steptime",
                "train",
                str(WORKLOADS / workload),
                "--device",
                "cpu",
                *arguments,
            ],
            cwd=here,
            env={**os.environ, "STEPTIME_RUNS": str(here / "runs"), "TF_CPP_MIN_LOG_LEVEL": "2"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        (summary,) = list_runs(here / "runs")
        assert "Traceback" not in done.stdout
        assert "--debug" in arguments or "Traceback" not in done.stderr
        return Run(done.returncode, done.stdout, done.stderr, summary.folder)

    return train


@pytest.fixture(scope="session")
def points(train: Train) -> Run:
    """A run that ended well: two epochs of a small job with validation."""
    return train(*POINTS, "--seed", "1", "--json", "--export", "copy.keras")


@functools.cache
def xplane_pb2() -> Any:
    """The generated classes of TensorFlow's trace format; they need protobuf only."""
    spec = importlib.util.find_spec("tensorflow")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "tsl/profiler/protobuf/xplane_pb2.py"
    module_spec = importlib.util.spec_from_file_location("xplane_pb2", path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules["xplane_pb2"] = module
    module_spec.loader.exec_module(module)
    return module


class Space:
    """A trace in the making."""

    def __init__(self) -> None:
        self.message = xplane_pb2().XSpace()
        self._planes: dict[str, Any] = {}
        self._lines: dict[tuple[str, str], Any] = {}

    def add(
        self, plane: str, line: str, name: str, begin_us: float, duration_us: float, **stats: Any
    ) -> "Space":
        """Add an event; times from 1 ms on the clock of the trace."""
        owner = self._plane(plane)
        key = (plane, line)
        if key not in self._lines:
            self._lines[key] = owner.lines.add(id=len(owner.lines) + 1, name=line, timestamp_ns=1_000_000)
        event = self._lines[key].events.add(
            metadata_id=self._named(owner.event_metadata, name),
            offset_ps=int(begin_us * 1e6),
            duration_ps=int(duration_us * 1e6),
        )
        for key_, value in stats.items():
            stat = event.stats.add(metadata_id=self._named(owner.stat_metadata, key_))
            if isinstance(value, str):
                stat.ref_value = self._named(owner.stat_metadata, value)
            else:
                stat.int64_value = value
        return self

    def _plane(self, name: str) -> Any:
        if name not in self._planes:
            self._planes[name] = self.message.planes.add(name=name)
        return self._planes[name]

    @staticmethod
    def _named(table: Any, name: str) -> int:
        for number, item in table.items():
            if item.name == name:
                return int(number)
        number = len(table) + 1
        table[number].id = number
        table[number].name = name
        return number


HOST, GPU = "/host:CPU", "/device:GPU:0"
STEP = "while/body/_1/while/StatefulPartitionedCall/"


@pytest.fixture
def host_trace() -> Any:
    """Two steps of 100 µs on a processor: a convolution, its gradient and the optimizer, on two threads."""
    space = Space()
    for number in range(2):
        at = 200.0 * number
        space.add(HOST, "python", "train", at, 100, step_num=number, _r=1)
        space.add(HOST, "python", "FunctionRun", at, 99, id=7)
        space.add(HOST, "tf_Compute/1", "ThreadpoolListener::Record", at, 0)
        space.add(HOST, "tf_Compute/1", f"{STEP}net_1/conv_1/Relu:_FusedConv2D", at + 10, 30)
        space.add(
            HOST, "tf_Compute/1", f"{STEP}gradient_tape/net_1/conv_1/grad:Conv2DBackpropFilter", at + 40, 20
        )
        space.add(HOST, "tf_Compute/2", f"{STEP}adam/Mul_3:Mul", at + 50, 20)
        space.add(HOST, "tf_Compute/2", f"{STEP}adam/Mul_4:Mul", at + 72, 2)
        space.add(HOST, "tf_data", "IteratorGetNextOp::DoCompute", at + 90, 5)
    # Outside the steps: not counted.
    space.add(HOST, "tf_Compute/1", f"{STEP}net_1/conv_1/Relu:_FusedConv2D", 900, 30)
    return space.message


@pytest.fixture
def gpu_trace() -> Any:
    """One step of 100 µs on a GPU: kernels on a compute stream, copies on others, and a line that viewers derive."""
    space = Space()
    space.add(HOST, "python", "train", 0, 100, step_num=0, _r=1)
    space.add(HOST, "tf_Compute/1", "net/dense/MatMul:MatMul", 1, 4)
    compute = "Stream #13(Compute)"
    space.add(GPU, compute, "ampere_sgemm_128x64", 20, 30, tf_op="net/dense/MatMul:MatMul", correlation_id=1)
    space.add(GPU, compute, "fusion_7", 55, 10, hlo_op="fusion.7", hlo_module="cluster_0")
    space.add(GPU, compute, "void tiny_kernel<float>(float*)", 70, 4)
    space.add(
        GPU, "Stream #14(MemcpyH2D)", "MemcpyH2D", 5, 12,
        memcpy_details="kind_src:pageable kind_dst:device size:4096 dest:0 async:1",
    )  # fmt: skip
    space.add(
        GPU, "Stream #15(MemcpyD2H)", "MemcpyD2H", 90, 2,
        memcpy_details="kind_src:device kind_dst:pinned size:4 dest:0 async:1",
    )  # fmt: skip
    space.add(GPU, "TensorFlow Ops", "MatMul", 20, 30, tf_op="net/dense/MatMul:MatMul")
    return space.message


@pytest.fixture
def xla_trace() -> Any:
    """One step of 100 µs that XLA compiled, on a processor: a loop around two products, inside one program."""
    space = Space()
    space.add(HOST, "python", "train", 0, 100, step_num=0, _r=1)
    space.add(HOST, "tf_Compute/1", "StatefulPartitionedCall:__inference_step_45", 1, 97)
    for name, begin, duration in (
        ("__inference_step_45", 1, 95),
        ("while.12", 5, 85),
        ("matmul.3", 10, 40),
        ("dot_add_fusion.1", 50, 30),
        ("call.7", 82, 6),
        ("add_multiply_fusion", 83, 4),
    ):
        space.add(HOST, "tf_XLAEigen/1", name, begin, duration, hlo_op=name, hlo_module="a_step")
    return space.message
