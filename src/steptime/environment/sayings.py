"""Facts that logs and people's sentences tell: one table of what is said and what it means."""

import re
from collections.abc import Iterator
from functools import cache

from steptime.environment.anchors import may_match
from steptime.environment.facts import Value

# (fact, value, pattern on lower-case text). A value of None takes the pattern's first group. The first match of a fact wins.
_SAYINGS: tuple[tuple[str, Value | None, str], ...] = (
    # Machine
    ("wsl", True, r"\bwsl ?2?\b|microsoft-standard|/usr/lib/wsl|/dev/dxg|windows subsystem for linux"),
    (
        "os",
        "linux",
        r"\bwsl ?2?\b|microsoft-standard|sys\.platform ?(?:==|=|:) ?.?linux|manylinux|\bx86_64 gnu/linux",
    ),
    (
        "os",
        "windows",
        (
            r"sys\.platform ?(?:==|=|:) ?.?win|win_amd64|\bwindows (?:10|11|server)|\b[a-z]:\\(?:users|"
            r"program|windows|anaconda|python)"
            r"|site-packages\\|cudart64_|cudnn64_|\bwddm\b|ps c:\\"
        ),
    ),
    (
        "os",
        "macos",
        (
            r"macosx|\bdarwin\b|/users/[^/ ]{1,40}/|libmetal_plugin|apple (?:m\d|silicon)|sys\.platform "
            r"?== ?.?darwin"
        ),
    ),
    (
        "os",
        "linux",
        (
            r"/usr/lib/x86_64|/usr/local/cuda|libcuda\.so|libcud\w{2,20}\.so|/dev/nvidia|ubuntu|debian|"
            r"centos|fedora|arch ?linux"
        ),
    ),
    ("arch", "aarch64", r"\baarch64\b|\barm64\b(?!.{0,20}apple)|linux_aarch64"),
    ("arch", "x86_64", r"\bx86_64\b(?!-linux-gnu/)|\bamd64\b"),
    ("jetson", True, r"jetson|\btegra\b|jetpack|\bl4t\b"),
    ("hosted", "colab", r"/content/|google\.?colab|\bcolab\b|colab_gpu"),
    ("hosted", "kaggle", r"/kaggle/|\bkaggle\b"),
    ("container", "apptainer", r"\bapptainer\b|\bsingularity\b|/\.singularity\.d"),
    (
        "container",
        "kubernetes",
        r"kubernetes|\bkubectl\b|nvidia\.com/gpu|\bk8s\b|\bpod\b.{0,20}\b(?:running|pending|node)",
    ),
    ("container", "podman", r"\bpodman\b|\bdistrobox\b"),
    (
        "container",
        "docker",
        (
            r"\bdocker[ -](?:run|compose|build|exec|:)|\bdocker: |/\.dockerenv|inside a (?:docker )"
            r"?container|dockerfile|^from \S+:\S+"
            r"|docker container|nvcr\.io/nvidia|nvidia release \d\d\.\d\d|failing step is docker"
        ),
    ),
    ("container", "lxc", r"\blxc\b|\blxd\b|proxmox"),
    ("image", None, r"((?:nvcr\.io/)?(?:nvidia|tensorflow)/[\w/-]{3,40}:[\w.-]{1,60})"),
    ("scheduler", "slurm", r"\bslurm|\bsrun\b|\bsbatch\b|slurm_job_id"),
    ("scheduler", "pbs", r"\bqsub\b|pbs_jobid"),
    (
        "job_gpus",
        False,
        (
            r"without slurm_job_gpus|no --gres|without --gres|login node|no gpu (?:was )?(?:requested|"
            r"allocated)|gres=none|gpus?_on_node=0"
        ),
    ),
    ("job_gpus", True, r"--gres[= ]gpu|--gpus(?:-per-\w+)?[= ]\d|slurm_job_gpus=\d"),
    (
        "cpu_avx",
        False,
        (
            r"(?:no|without|lacks?|not support|missing) avx\b|(?:cpu|flags)\b.{0,40}\bno .?avx|celeron|"
            r"\bpentium|\batom\b|core ?2 (?:duo|quad)"
            r"|\bxeon e5[4-5]\d\d|\bqemu64\b|\bkvm64\b|phenom|core2|avx not supported"
        ),
    ),
    ("glibc", None, r"(?:ldd \(.{0,40}\)|glibc(?:,| is| version)?:?) (2\.\d\d)\b"),
    (
        "glibc",
        "2.17",
        (
            r"\bcentos (?:linux )?(?:release )?7|\brhel ?7\b|red hat enterprise linux (?:server )"
            r"?(?:release )?7|manylinux2014 only"
        ),
    ),
    ("glibc", "2.12", r"\bcentos (?:linux )?(?:release )?6|\brhel ?6\b"),
    # Driver
    ("driver", None, r"(?:insufficient )?driver version: ?(\d{3}\.\d{2,3}(?:\.\d{1,2})?)"),
    ("driver_cuda", None, r"cuda version: ?(\d\d?\.\d)\b"),
    ("libcuda", None, r"libcuda reported version is: ?(\d{3}\.\d+(?:\.\d+)?)"),
    ("libcuda", None, r"does not match dso version ?(\d{3}\.\d+(?:\.\d+)?)"),
    ("kernel_module", None, r"kernel (?:reported )?version (?:is: ?)?(\d{3}\.\d+(?:\.\d+)?)"),
    ("kernel_module", None, r"kernel module +(\d{3}\.\d+(?:\.\d+)?) "),
    (
        "kernel_module",
        "none",
        (
            r"kernel driver does not appear to be running|lsmod has no nvidia|lsmod \| grep nvidia (?:is|"
            r"shows|prints) (?:empty|nothing)"
        ),
    ),
    (
        "libcuda",
        "missing",
        (
            r"could not load dynamic library 'libcuda\.so\.1'|libcuda\.so\.1: cannot open|"
            r"cdll\('libcuda\.so\.1'\) fails|libcuda(?:\.so\.1)? absent"
            r"|libcuda\.so\.1 (?:is )?(?:not found|missing)|no libcuda\b"
        ),
    ),
    (
        "nouveau",
        True,
        (
            r"lsmod.{0,30}\bnouveau|driver in use: nouveau|\bnouveau\b.{0,40}(?:was loaded|obtained "
            r"ownership|bound|loaded)|nvrm: +nouveau"
        ),
    ),
    (
        "secure_boot",
        True,
        (
            r"secure ?boot (?:is )?(?:state )?:? ?(?:enabled|on|active)|key was rejected by service|"
            r"module verification failed|required key not available"
        ),
    ),
    (
        "smi_works",
        True,
        (
            r"nvidia-smi (?:works|is fine|fine|ok|lists|shows (?:the|my|a) (?:gpu|card))|"
            r"nvidia-smi(?:\.exe)? (?:lists|sees) (?:a|the) gpu|nvidia-smi in windows works"
            r"|\| nvidia-smi \d{3}\.|gpu 0: .{3,60}\(uuid: gpu-|nvidia-smi and nvcc (?:work|fine)"
        ),
    ),
    (
        "smi_works",
        False,
        (
            r"nvidia-smi has failed|failed to initialize nvml|no devices were found|nvidia-smi (?:fails|"
            r"not found|prints nothing|does not work)"
        ),
    ),
    ("nvml", "mismatch", r"failed to initialize nvml: driver/library version mismatch"),
    ("nvml", "unknown", r"failed to initialize nvml: unknown error"),
    ("nvml", "permissions", r"failed to initialize nvml: insufficient permissions"),
    ("nvml", "blocked", r"gpu access blocked by the operating system"),
    ("cuinit", "unknown_303", r"unknown error \(?303|cuinit: unknown error ?\(303\)"),
    ("cuinit", "cuda_error_system_driver_mismatch", r"cuda_error_system_driver_mismatch"),
    ("cuinit", "cuda_error_compat_not_supported_on_device", r"cuda_error_compat_not_supported"),
    ("cuinit", "cuda_error_system_not_ready", r"cuda_error_system_not_ready|error 802: system not yet"),
    ("cuinit", "cuda_error_stub_library", r"cuda_error_stub_library|cuda driver is a stub|cuda_error_stub"),
    (
        "cuinit",
        "cuda_error_no_device",
        (
            r"cuda_error_no_device|cudaerrornodevice|no cuda-capable device is detected|"
            r"cudagetdevice\w*\(\) failed.{0,40}no cuda"
        ),
    ),
    (
        "cuinit",
        "cuda_error_unknown",
        (
            r"cuinit: (?:internal: cuda error: failed call to cuinit: )?cuda_error_unknown|"
            r"cuda_error_unknown"
        ),
    ),
    ("cuinit", "unknown_34", r"unknown error \(34\)"),
    ("cuinit", "minus_1", r"unknown error \(-1\)|curesult\(-1\)"),
    ("cuinit", "cuda_error_invalid_device", r"cuinit: .{0,60}cuda_error_invalid_device"),
    (
        "dev_nvidia",
        False,
        (
            r"no /dev/nvidia|/dev/nvidia0 does not exist|/dev/nvidia\* (?:is |are )?(?:missing|absent)|"
            r"without /dev/nvidia"
        ),
    ),
    (
        "dev_uvm",
        False,
        (
            r"/dev/nvidia-uvm (?:is )?(?:missing|absent|does not exist|not there)|no /dev/nvidia-uvm|"
            r"nvidia-uvm.{0,30}(?:missing|no such file)"
        ),
    ),
    (
        "dev_access",
        False,
        (
            r"permission denied.{0,40}/dev/nvidia|/dev/nvidia\w* .{0,20}permission denied|not in (?:the )"
            r"?(?:group )?(?:video|render)\b|\b0660\b.{0,60}nvidia"
            r"|r_ok\|w_ok\) is false"
        ),
    ),
    ("dev_dxg", False, r"/dev/dxg (?:is )?missing|no /dev/dxg"),
    ("dev_dxg", True, r"/dev/dxg present|/dev/dxg exists"),
    (
        "works_as_root",
        True,
        (
            r"(?:works|runs|fine|found|ok|seen|detected|visible) .{0,20}(?:with|under|as|using|via) "
            r"(?:sudo|root)|(?:with|as|under) (?:sudo|root),? (?:it |gpu )?(?:works|is fine|runs)"
            r"|only (?:works )?(?:as root|with sudo)|sudo python.{0,30}works|after running .{0,20}as root"
        ),
    ),
    (
        "after_suspend",
        True,
        (
            r"after (?:a |the )?(?:resum\w+|suspen\w+|sleep|hibernat\w+|waking|wake-?up)|(?:resum\w+|"
            r"wak\w+|woke\w*) (?:up )?from (?:suspend|sleep|hibernation)|suspend/resume"
            r"|laptop (?:lid|sleep)|before suspend|went to sleep|closing the lid"
        ),
    ),
    (
        "worked_before",
        True,
        (
            r"worked (?:fine |well )?(?:before|until|yesterday|earlier|for (?:a|some))|(?:after|for) (?:a "
            r"while|some (?:time|hours|days)|several (?:hours|days))\b.{0,60}(?:lose|lost|gone|fail)"
            r"|suddenly|daemon-reload|abruptly"
        ),
    ),
    ("nvswitch", True, r"nvswitch|\bhgx\b|\bdgx[ -](?:a100|h100|h200|b200|2)\b|fabric ?manager"),
    (
        "mig",
        True,
        (
            r"\bmig\b.{0,30}(?:enabled|device|slice|instance|mode|1g\.|uuid)|with mig\b|mig-[0-9a-f]{8}|"
            r"mig \d\w\.\d+gb"
        ),
    ),
    ("compute_mode", "exclusive", r"e\. process|exclusive_process|exclusive[ -]process"),
    ("compute_mode", "prohibited", r"compute mode.{0,10}prohibited"),
    (
        "gpu_util_low",
        True,
        (
            r"gpu.?util\w*(?: is|:| stays| around| at| of| only)? ?(?:about |~|only |near |<)?(?:[0-9]|"
            r"1[0-9]|2[0-9]) ?%|utili[sz]ation .{0,30}(?:low|saw-?tooth|drops? to 0|zero|0 ?%)"
            r"|volatile.{0,10}0%"
        ),
    ),
    # Variables and paths
    ("visible_devices", None, r"cuda_visible_devices['\"]?\]? ?(?:=|:|to|is set to) ?['\"]?(-?[\w,-]*)"),
    (
        "gpus_hidden",
        True,
        (
            r"cuda_visible_devices is set to .{0,20}hides all gpus|this hides all gpus from cuda|"
            r"cuda_visible_devices['\"]?\]? ?(?:=|:|to|is) ?['\"]?-1"
            r"|cuda_visible_devices['\"]?\]? ?(?:=|is) ?(?:''|\"\"|empty)"
        ),
    ),
    ("driver_capabilities", None, r"nvidia_driver_capabilities ?[=:] ?([a-z,]+)"),
    (
        "driver_capabilities",
        "utility",
        r"driver_capabilities without compute|without (?:the )?compute capability of the driver",
    ),
    (
        "loader_path_stubs",
        True,
        (
            r"ld_library_path.{0,400}/stubs|ld\.so\.conf.{0,200}stubs|stubs.{0,120}ld\.so\.conf|"
            r"^[^\n:]{0,40}(?:/[\w./-]+:)+[\w./-]*/stubs"
        ),
    ),
    (
        "keras_backend",
        None,
        r"keras_backend['\"]?\]? ?(?:=|:|is|names?) ?['\"]?(jax|torch|pytorch|numpy|openvino)",
    ),
    ("keras_backend", None, r"using (jax|pytorch|torch|numpy) backend"),
    # Python and packages
    ("python_bits", 32, r"32[- ]bit python|python.{0,20}\b32 bit|win32\.whl|\(32[- ]bit"),
    ("conda", True, r"\bconda\b|anaconda|miniconda|miniforge|conda_prefix|/envs/|\\envs\\"),
    (
        "tensorflow_build",
        "cpu",
        (
            r"is_cuda_build\b.{0,8}false|is_bui[ld]{1,2}t?_with_cuda(?:\(\))?\)?.{0,12}false|"
            r"with_cuda\(\)\)?(?: is| returns| #)?:? ?false|not built with cuda(?! kernel)|mkl_py\d|=cpu_|"
            r"\bcpu_py\d|eigen_py\d"
        ),
    ),
    (
        "tensorflow_build",
        "rocm",
        (
            r"is_rocm_build\b.{0,8}true|tensorflow-rocm|\(rocm\)|rocm/tensorflow|amdgpu version|hipinit|"
            r"rocm fusion"
        ),
    ),
    ("tensorflow_build", "cuda", r"is_cuda_build\b.{0,8}true|with_cuda\(\)\)?(?: is| returns| #)?:? ?true"),
    (
        "tensorflow_gpus",
        0,
        (
            r"list_physical_devices\(.?gpu.?\)\)?(?: is| ==| returns| prints|:| gives)? ?(?:an empty list|"
            r"empty|\[ ?\])|num gpus available: +0|gpu is not available|device_count\(\).{0,6}\b0$"
        ),
    ),
    (
        "tensorflow",
        None,
        (
            r"tf\.__version__ ?(?:==|=|:)?\s{0,4}['\"]?(\d\.\d+\.\d+)|>>> (?:tf|tensorflow)"
            r"\.__version__\s{1,4}['\"](\d\.\d+[\w.]*)"
        ),
    ),
    (
        "tensorflow",
        None,
        r"(?:tf|tensorflow)(?: version)?[ :=]{1,4}v?(\d\.\d+(?:\.\d+)?)(?![\w.]*(?:-py|\.tar|\.whl))",
    ),
    ("tensorflow", None, r"\bv(\d\.\d+\.\d+)(?:-rc\d)?-\d+-g[0-9a-f]{8,}"),
    (
        "numpy",
        None,
        r"cannot be run in\s{1,4}numpy (\d\.\d+\.\d+)|numpy(?:==|>=| version:? | )(\d\.\d+(?:\.\d+)?)",
    ),
    ("protobuf", None, r"protobuf(?:==| version:? | )(\d\.\d+(?:\.\d+)?)"),
    ("metal", None, r"tensorflow[-_]metal(?:==| |-)(\d\.\d\.\d)"),
    ("metal", "any", r"libmetal_plugin|tensorflow-metal|metal_plugin/"),
    (
        "python",
        None,
        (
            r"python ?(?:version)?[:= ]{0,3}(3\.\d{1,2}|2\.7)(?:\.\d+)?|(?:lib|envs)/python(3\.\d{1,2})/|"
            r"\bcp(3\d{1,2})-cp3"
        ),
    ),
    (
        "cuda_toolkit",
        None,
        (
            r"cuda compilation tools, release (\d\d?\.\d)|^(?:from )?nvidia/cuda:(\d\d?\.\d)|^cuda "
            r"version (\d\d?\.\d)|/usr/local/cuda-(\d\d?\.\d)"
        ),
    ),
    ("cudnn_loaded", None, r"loaded runtime cudnn library: ?(\d+\.\d+\.\d+)"),
    ("cudnn_built", None, r"source was compiled with: ?(\d+\.\d+\.\d+)"),
    (
        "cudart",
        "missing",
        (
            r"no libcudart|could not load dynamic library 'libcudart|libcudart\.so\.\d+.{0,10}(?:missing|"
            r"not found|cannot open)"
        ),
    ),
    ("notebook", True, r"jupyter|ipykernel|ipython|notebook|\.ipynb"),
)
_GPU_LINES: tuple[str, ...] = (
    r"name: ([\w .-]{2,50}?),? (?:pci bus|computecapability|major)",
    r"\(device: \d+, name: ([^,]{2,50}?)(?:,| compute)",
    (
        r"\| +\d +(?:nvidia )?((?:geforce|tesla|quadro|rtx|gtx|titan|a\d+|h\d+|l\d+s?|t4|v100|p\d+|"
        r"b\d+|graphics device)[\w .-]{0,40}?) *(?:\.\.\.|on |off |wddm|tcc| \|)"
    ),
    r"gpu \d: ([\w .-]{3,50}) \(uuid",
    r"vga compatible controller: ([^\n]{5,80})|3d controller: ([^\n]{5,80})",
    r"\b((?:geforce )?[rg]tx ?(?:a|pro )?\d{3,4}(?: ?(?:ti|super|ada|m))?)\b",
    r"\b(rx ?[5-7]\d00(?: ?xtx?)?)\b",
)


@cache
def _compiled() -> tuple[tuple[str, Value | None, re.Pattern[str]], ...]:
    return tuple((fact, value, re.compile(pattern, re.MULTILINE)) for fact, value, pattern in _SAYINGS)


def read_sayings(text: str) -> dict[str, Value]:
    """Return the facts that a text tells, such as versions, answers of the driver, or "works with sudo".

    Args:
        text: Clean text, any case; lines end with a line feed.
    """
    lowered = text.lower()
    found: dict[str, Value] = {}
    for fact, value, pattern in _compiled():
        if fact in found or not may_match(pattern.pattern, lowered):
            continue
        match = pattern.search(lowered)
        if match is not None:
            found[fact] = (
                value if value is not None else next((g for g in match.groups() if g is not None), "")
            )
    _tidy(found)
    if names := tuple(dict.fromkeys(_gpu_names(lowered))):
        found["gpu"] = names
    return found


def _tidy(found: dict[str, Value]) -> None:
    python = found.get("python")
    if isinstance(python, str) and "." not in python:  # a wheel's tag: 312 is 3.12
        found["python"] = f"{python[0]}.{python[1:]}"
    if found.get("hosted") and "os" not in found:
        found["os"] = "linux"


def _gpu_names(lowered: str) -> Iterator[str]:
    for pattern in _GPU_LINES:
        if not may_match(pattern, lowered):
            continue
        matches = list(re.finditer(pattern, lowered))
        for match in matches[:16]:
            yield next(group for group in match.groups() if group).strip()
        if matches:
            return
