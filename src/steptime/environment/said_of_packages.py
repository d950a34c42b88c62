"""What sentences and log lines tell about variables, Python and packages.

Each entry: fact, value, pattern on lower-case text. A value of ``None`` takes the pattern's first group that matched.
"""

from steptime.environment.facts import Value

SAYINGS: tuple[tuple[str, Value | None, str], ...] = (
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
        (
            r"(?:keras_backend|keras\.json).{0,3}\]? ?(?:=|:|is|names?|says|has|set to)? ?.{0,12}?\b(jax|"
            r"torch|pytorch|numpy|openvino)\b"
        ),
    ),
    ("keras_backend", None, r"using (jax|pytorch|torch|numpy) backend"),
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
        (
            r"(?<!requirement )(?<!found for )(?<!install )(?:tf|tensorflow)(?: version)"
            r"?[ :=]{1,4}v?(\d\.\d+(?:\.\d+)?)(?![\w.]*(?:-py|\.tar|\.whl))"
        ),
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
    (
        "cuda_wanted",
        None,
        r"lib(?:cublas|cudart)\.so\.(\d{1,2}(?:\.\d)?)(?:'|:| cannot)[^\n]{0,40}(?:cannot open|dlerror|no such file)",
    ),
    ("cudnn_loaded", None, r"loaded runtime cudnn library: ?(\d+\.\d+\.\d+)"),
    (
        "cudnn_loaded",
        None,
        r"cudnn (\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)[^\n,;]{0,12} (?:is )?(?:loaded|found first|first on)",
    ),
    (
        "cudnn_built",
        None,
        r"(?:compiled|built) (?:with|against|for) (?:cudnn )?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?=[^\n]{0,60})",
    ),
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
