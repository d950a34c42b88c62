"""The driver's library libcuda.so.1 is not found."""

from steptime.diagnosis.condition import All, Check, Not, Says, is_
from steptime.diagnosis.environment.places import APPTAINER, CONTAINER, WSL
from steptime.diagnosis.environment.signs import CUINIT_303, LIBCUDA_LINE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="libcuda-missing",
    title="The driver's library libcuda.so.1 is not found.",
    cause=(
        "libcuda comes with the NVIDIA driver, not with CUDA: there is no driver here, or its "
        "library lies outside the loader's search path (NixOS, distrobox, WSL's /usr/lib/wsl/lib)."
    ),
    remedies=(
        Remedy(
            (
                "export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH",
                (
                    "ls /usr/lib/wsl/lib/libcuda.so.1   # missing: install the NVIDIA driver on the Windows side,"
                    " then: wsl --shutdown"
                ),
            ),
            WSL,
        ),
        Remedy(("docker run --rm -it --gpus all IMAGE",), CONTAINER),
        Remedy(("apptainer exec --nv IMAGE.sif python train.py",), APPTAINER),
        Remedy(
            (
                (
                    "sudo ubuntu-drivers install && sudo reboot   # Ubuntu; elsewhere the distribution's NVIDIA "
                    "driver package"
                ),
                "# NixOS: export LD_LIBRARY_PATH=/run/opengl-driver/lib; without an NVIDIA GPU: nothing to do",
            )
        ),
    ),
    verify="python -c \"import ctypes; print(ctypes.CDLL('libcuda.so.1'))\"",
    clues=(
        Clue(2.4, LIBCUDA_LINE),
        Clue(2.1, CUINIT_303),
        Clue(
            2.4,
            All(is_("libcuda", "missing"), is_("gpu_vendor", "nvidia"), Not(is_("kernel_module", "none"))),
        ),
        Clue(2.4, All(is_("libcuda", "missing"), is_("wsl", True))),
        Clue(0.6, Says(r"nixos", r"distrobox", r"/usr/lib/wsl/lib", r"opengl-driver")),
    ),
    commonness=3,
    unless=(is_("gpu_vendor", "none", "amd", "apple"), is_("os", "windows", "macos")),
    consequences=("cuda-libs-not-installed", "wrong-cuda-major", "cuda-lib-not-found"),
    decide="python -c \"import ctypes; ctypes.CDLL('libcuda.so.1')\"; lspci | grep -i nvidia",
    clear=(
        "The driver's library libcuda.so.1 is found.",
        Check("libcuda", test=lambda found: str(found) not in {"missing", "stub"}),
    ),
    fires=(
        Case(
            log=(
                "W dso_loader.cc:59] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: "
                "cannot open shared object file\nE cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR "
                "(303)"
            ),
            stated=("platform=linux", "gpu=GTX 1080"),
        ),
    ),
    silent=(Case(log="failed call to cuInit: UNKNOWN ERROR (303)", stated=("platform=linux", "gpu=none")),),
)
