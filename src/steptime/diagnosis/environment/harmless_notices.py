"""Notices about the processor, rounding, logging and optional memory."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-notices",
    title="Notices of TensorFlow about the processor, rounding, logging or optional memory: harmless.",
    cause=(
        "TensorFlow says which processor instructions it uses, how it logs, that an optional "
        "allocation or a finished dataset ended; nothing has failed."
    ),
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"onednn custom operations are on.{0,240}tf_enable_onednn_opts=0",
                r"this tensorflow binary is optimized (to use available cpu instructions|with oneapi).{0,120}",
                r"to enable (the following instructions|them in other operations).{0,160}compiler flags",
                r"your cpu supports instructions that this tensorflow binary was not compiled to use.{0,60}",
                r"the tensorflow library wasn't compiled to use \w{3,8} instructions.{0,100}",
                r"all log messages before absl::initializelog\(\) is called are written to stderr",
                (
                    r"allocator.{0,40}ran out of memory trying to allocate.{0,80}the caller indicates that this "
                    r"is not a failure.{0,140}"
                ),
                r"\(debug info\) executor start aborting \(this does not indicate an error.{0,160}",
                r"disabling mlir crash reproducer.{0,100}",
                r"not creating xla devices, tf_xla_enable_xla_devices not set",
                r"plugin optimizer for device_type gpu is enabled",
                r"xla service 0x[0-9a-f]{4,20} (initialized|executing computations) (for|on) platform.{0,60}",
            ),
        ),
    ),
    commonness=3,
    harmless=True,
    fires=(
        Case(
            log=(
                "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.13GiB with freed_by_count=0. "
                "The caller indicates that this is not a failure, but this may mean that there could be "
                "performance gains if more memory were available."
            )
        ),
    ),
    silent=(Case(log="Resource exhausted: OOM when allocating tensor with shape[10,10]"),),
)
