"""The container may use less processor time than it shows threads."""

from steptime.diagnosis.condition import Check
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cpu-quota-below-threads",
    title="The container may use less processor time than it shows threads.",
    cause=(
        "The container's CPU quota is smaller than the number of threads that TensorFlow sees; it "
        "starts too many threads, which then wait for each other."
    ),
    remedies=(
        Remedy(
            (
                "export TF_NUM_INTRAOP_THREADS=$(nproc) OMP_NUM_THREADS=$(nproc)   # or the quota's whole number",
                "# or give the container more: docker run --cpus 8, or the pod's resources.limits.cpu",
            )
        ),
    ),
    verify="cat /sys/fs/cgroup/cpu.max; nproc",
    clues=(
        Clue(
            2.2,
            Check("cpu_quota", "cpu_usable", test=lambda quota, threads: float(quota) < 0.9 * float(threads)),
        ),
    ),
    commonness=1,
    slow=True,
    clear=(
        "The CPU quota does not limit this process.",
        Check("cpu_quota", "cpu_usable", test=lambda quota, threads: float(quota) >= 0.9 * float(threads)),
    ),
    fires=(Case(stated=("cpu_quota=2", "cpu_usable=32")),),
    silent=(Case(stated=("cpu_quota=8", "cpu_usable=8")),),
)
