"""What sentences and log lines tell about the machine and what encloses the process.

Each entry: fact, value, pattern on lower-case text. A value of ``None`` takes the pattern's first group that matched.
"""

from steptime.environment.facts import Value

SAYINGS: tuple[tuple[str, Value | None, str], ...] = (
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
)
