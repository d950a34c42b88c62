"""Several GPUs: the exchange of gradients fails or hangs."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="nccl-failure",
    title="NCCL, which exchanges gradients between GPUs, fails or hangs.",
    cause=(
        "Frequent reasons: limits on locked memory with InfiniBand, a small /dev/shm in a container, "
        "or peer-to-peer trouble between cards."
    ),
    remedies=(
        Remedy(
            (
                "docker run --rm -it --gpus all --shm-size=1g --ulimit memlock=-1 -e NCCL_DEBUG=INFO IMAGE",
                "# then try -e NCCL_P2P_DISABLE=1, then -e NCCL_IB_DISABLE=1",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                "export NCCL_DEBUG=INFO   # names the step that fails",
                "ulimit -l unlimited",
                "export NCCL_P2P_DISABLE=1   # then instead NCCL_IB_DISABLE=1; which one helps names the reason",
                "# or: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
            )
        ),
    ),
    verify="NCCL_DEBUG=INFO python train.py 2>&1 | grep -i nccl | head",
    clues=(
        Clue(
            3,
            Says(
                r"nccl warn",
                r"unhandled (system|cuda) error",
                r"ibv_create_",
                r"ncclinternalerror|ncclsystemerror|ncclunhandledcudaerror",
                r"nccl (error|failure|operation)",
                r"nccl.{0,60}(fail|hang|hung|stuck|timeout|timed out)",
                r"collective_?ops? (error|aborted|failed)",
                r"collective op.{0,80}(timed out|timeout|deadline)",
                r"joining a group with size",
                r"local rendezvous is aborting with status: ?(aborted|internal).{0,60}(collective|nccl)",
                r"multiworkermirroredstrategy.{0,120}(hang|stuck|deadlock)",
                r"(multi|two|several|[2-8])[- ]gpus?.{0,80}(hang|stuck|freez|deadlock)",
                r"ncclallreduce|ncclcomminit",
                r"collective_nccl|collectivereduce.{0,60}(fail|abort|hang)",
            ),
        ),
        Clue(
            2.1,
            Says(
                r"mirroredstrategy.{0,160}(hang|stuck|freez|deadlock|never)",
                r"(hang|stuck|freez|deadlock).{0,160}mirroredstrategy",
                r"all-?reduce.{0,60}(hang|stuck|fail)",
            ),
        ),
    ),
    commonness=1,
    unless=(is_("gpu_count", 1),),
    decide="NCCL_DEBUG=INFO python train.py 2>&1 | grep -i 'nccl warn'",
    fires=(
        Case(log="NCCL WARN Call to ibv_create_cq failed\nunhandled system error", stated=("gpu=4x A100",)),
    ),
    silent=(
        Case(
            log="INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0',)"
        ),
    ),
)
