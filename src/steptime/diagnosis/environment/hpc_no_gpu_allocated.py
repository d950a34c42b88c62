"""A cluster's job or shell without a GPU."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import SMI_LIST
from steptime.diagnosis.environment.places import CLUSTER, SLURM
from steptime.diagnosis.environment.signs import (
    CUDART_LINE,
    CUINIT_303,
    LIBCUDA_LINE,
    NO_DEVICE,
    NO_GPU_LISTED,
    SMI_FAILED,
)
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="hpc-no-gpu-allocated",
    title="The cluster's scheduler gave this job no GPU.",
    cause=(
        "The scheduler shows a process only the GPUs it was given; a login node or a job that asked "
        "for none has none."
    ),
    remedies=(
        Remedy(
            (
                "srun --gres=gpu:1 --pty bash   # or in the job script: #SBATCH --gres=gpu:1",
                "apptainer exec --nv IMAGE.sif python train.py   # if the job runs in a container",
            ),
            SLURM,
        ),
        Remedy(
            (
                (
                    "# ask the scheduler for a GPU: srun --gres=gpu:1 (Slurm), qsub -l select=1:ngpus=1 (PBS), "
                    "bsub -gpu num=1 (LSF)"
                ),
            )
        ),
    ),
    verify=SMI_LIST + "   # inside the job",
    clues=(
        Clue(
            2.0,
            All(
                CLUSTER,
                Any(
                    NO_DEVICE,
                    is_("cuinit", "cuda_error_no_device"),
                    CUINIT_303,
                    LIBCUDA_LINE,
                    NO_GPU_LISTED,
                    SMI_FAILED,
                    CUDART_LINE,
                    is_("dev_nvidia", False),
                ),
            ),
        ),
        Clue(1.2, All(CLUSTER, Any(NO_DEVICE, is_("cuinit", "cuda_error_no_device")))),
        Clue(1.5, is_("job_gpus", False)),
        Clue(1.1, All(is_("job_gpus", False), CLUSTER)),
        Clue(
            2.4,
            Says(
                r"login node",
                r"(compute|gpu) node .{0,80}(login|frontend|head) node",
                r"without (--gres|--gpus|requesting a gpu|asking for a gpu)",
                r"no gpus? (was |were )?(allocated|requested|assigned)",
            ),
        ),
        Clue(1.4, All(NO_DEVICE, Says(r"/(lustre|gpfs|scratch|beegfs|cvmfs|work/|cluster)", r"module load"))),
    ),
    commonness=2,
    unless=(is_("job_gpus", True), is_("os", "windows", "macos"), is_("gpu_vendor", "amd")),
    consequences=(
        "cuda-visible-devices",
        "no-driver-loaded",
        "libcuda-missing",
        "cuda-libs-not-installed",
        "uvm-device-missing",
    ),
    decide="echo $SLURM_JOB_ID $SLURM_JOB_GPUS; nvidia-smi -L   # inside the job",
    clear=("The scheduler gave this job a GPU.", is_("job_gpus", True)),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            stated=("platform=slurm cluster",),
        ),
    ),
    silent=(
        Case(
            log=(
                "srun --gres=gpu:1 python train.py\nCreated device "
                "/job:localhost/replica:0/task:0/device:GPU:0 with 14000 MB memory"
            ),
            stated=("platform=slurm cluster",),
        ),
    ),
)
