"""What sentences and log lines tell about the driver and the GPU.

Each entry: fact, value, pattern on lower-case text. A value of ``None`` takes the pattern's first group that matched.
"""

from steptime.environment.facts import Value

SAYINGS: tuple[tuple[str, Value | None, str], ...] = (
    ("driver", None, r"(?:insufficient )?driver version: ?(\d{3}\.\d{2,3}(?:\.\d{1,2})?)"),
    ("driver_cuda", None, r"cuda version: ?(\d\d?\.\d)\b"),
    ("libcuda", None, r"libcuda reported version is: ?(\d{3}\.\d+(?:\.\d+)?)"),
    ("libcuda", None, r"does not match dso version ?(\d{3}\.\d+(?:\.\d+)?)"),
    ("kernel_module", None, r"kernel (?:reported )?version (?:is: ?)?(\d{3}\.\d+(?:\.\d+)?)"),
    ("kernel_module", None, r"kernel module +(\d{3}\.\d+(?:\.\d+)?) "),
    (
        "kernel_module",
        None,
        r"/proc/driver/nvidia/version (?:says|is|shows|reads|=|:) ?(\d{3}\.\d+(?:\.\d+)?)",
    ),
    ("libcuda", None, r"libcuda\.so\.(\d{3}\.\d+(?:\.\d+)?)"),
    (
        "gpu_on_pci",
        True,
        (
            r"lspci (?:shows|lists|names|has|sees) (?:a|an|the|my) (?:nvidia|gpu|card|geforce|tesla)|card "
            r"is on (?:the )?(?:lspci|pci)"
        ),
    ),
    ("gpu_vendor", "amd", r"lspci .{0,40}\b(?:amd|ati)\b|only an amd|amd/ati only"),
    (
        "gpu_vendor",
        "none",
        (
            r"no gpu in (?:this|the) (?:machine|server|vm|laptop)|lspci shows no nvidia|cpu-only "
            r"(?:machine|server|vm|laptop|instance)"
        ),
    ),
    (
        "kernel_module",
        "none",
        (
            r"kernel driver does not appear to be running|lsmod (?:has|shows|lists) no nvidia|"
            r"/proc/driver/nvidia/version (?:is )?(?:missing|absent|not there|does not exist)|no "
            r"/proc/driver/nvidia|lsmod \| grep nvidia (?:is|"
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
            r"(?<!host )(?<!windows )\bnvidia-smi (?:works|is fine|fine|ok|lists|shows (?:the|my|a) "
            r"(?:gpu|card))(?! on (?:the )?host| outside)|"
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
        True,
        (
            r"nvidia-smi (?:works|is fine|lists \w+ \w+|shows \w+ \w+) (?:in|inside|within) (?:the|a|my) "
            r"(?:container|image|docker|pod)"
        ),
    ),
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
            r"(?:after|since|when|once|before|each time|every time)\b.{0,40}"
            r"(?:suspen|resum|hibernat|\bwak(?:e|es|ing)\b|woke|\bsleep\b(?!\())"
            r"|(?:resum\w+|wak\w+|woke\w*) (?:up )?from (?:suspend|sleep|hibernation)"
            r"|suspend/resume|closing the lid|went to sleep"
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
)
