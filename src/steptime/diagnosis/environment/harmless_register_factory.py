"""Unable to register cuDNN, cuFFT or cuBLAS factory."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-register-factory",
    title="Unable to register cuDNN, cuFFT or cuBLAS factory: harmless.",
    cause="The binary registers the same thing twice (2.14 to 2.20); it is printed as an error and has no effect.",
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"unable to register (cudnn|cufft|cublas|curand|cusolver) factory.{0,120}(already been registered)?",
                r"computation placer already registered.{0,60}",
                r"attempting to register factory for plugin (cudnn|cufft|cublas)",
                r"invalid plugin kind specified: \w{3}",
                r"pywrap_tensorflow.{0,30}already registered",
            ),
        ),
    ),
    commonness=3,
    harmless=True,
    fires=(
        Case(
            log=(
                "E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN "
                "factory: Attempting to register factory for plugin cuDNN when one has already been "
                "registered"
            )
        ),
    ),
    silent=(Case(log="Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR"),),
)
