"""Facts that a person states on the command line, in any words: ``--fact platform="Win 11, WSL2"``."""

import re
from collections.abc import Callable, Sequence

from steptime.environment import gpus, versions
from steptime.environment.catalogue import FACTS
from steptime.environment.facts import Facts, Value, known
from steptime.environment.sayings import read_sayings
from steptime.errors import UsageError

_PLATFORM_WORDS: tuple[tuple[str, dict[str, Value]], ...] = (
    (r"\bwsl", {"os": "linux", "wsl": True}),
    (r"docker|container|nvidia-docker|\bngc\b|devcontainer", {"container": "docker", "os": "linux"}),
    (r"podman|distrobox", {"container": "podman", "os": "linux"}),
    (r"singularity|apptainer", {"container": "apptainer", "os": "linux"}),
    (r"kubernetes|k8s|\bgke\b|\beks\b", {"container": "kubernetes", "os": "linux"}),
    (r"\blx[cd]\b|proxmox", {"container": "lxc", "os": "linux"}),
    (r"colab", {"hosted": "colab", "os": "linux"}),
    (r"kaggle", {"hosted": "kaggle", "os": "linux"}),
    (r"jetson|tegra|jetpack", {"jetson": True, "os": "linux", "arch": "aarch64"}),
    (r"slurm|hpc|cluster", {"scheduler": "slurm", "os": "linux"}),
    (
        (
            r"linux|ubuntu|debian|centos|rhel|red ?hat|fedora|mint|manjaro|\barch\b|suse|"
            r"pop!?_?os|\bnixos\b|rocky|alma"
        ),
        {"os": "linux"},
    ),
    (r"\bmac|os ?x|darwin|apple|\bm[1-5]\b", {"os": "macos"}),
    (r"\bwin", {"os": "windows"}),
)
_KEYS: dict[str, str] = {
    "platform": "platform", "os": "platform", "system": "platform", "operating_system": "platform",
    "machine": "platform",
    "environment": "platform", "host": "platform", "where": "platform", "distro": "platform",
    "distribution": "platform",
    "tensorflow": "tensorflow", "tf": "tensorflow", "tf_version": "tensorflow", "tensorflow_version": "tensorflow",
    "python": "python", "python_version": "python", "py": "python",
    "gpu": "gpu", "gpus": "gpu", "card": "gpu", "gpu_model": "gpu", "device": "gpu", "gpu_name": "gpu",
    "hardware": "gpu",
    "driver": "driver", "driver_version": "driver", "nvidia_driver": "driver",
    "cuda": "cuda", "cuda_version": "cuda", "cudatoolkit": "cuda", "toolkit": "cuda", "cuda_cudnn": "cuda",
    "arch": "arch", "architecture": "arch", "cpu": "cpu", "processor": "cpu", "glibc": "glibc", "libc": "glibc",
    "numpy": "numpy", "numpy_version": "numpy", "protobuf": "protobuf", "keras": "keras", "keras_version": "keras",
    "container": "platform", "cuda_visible_devices": "visible", "ld_library_path": "loader",
    "compute_capability": "cc", "cc": "cc",
}  # fmt: skip


def read_stated(pairs: Sequence[str]) -> Facts:
    """Turn ``KEY=VALUE`` statements into facts; keys that are not known count as free sentences.

    Args:
        pairs: Statements as the command line has them.

    Raises:
        UsageError: A statement has no ``=``.
    """
    values: dict[str, Value | None] = {}
    texts: list[str] = []
    for pair in pairs:
        key, equals, stated = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"expected --fact KEY=VALUE, received {pair!r}",
                hint="for example --fact platform=wsl2 --fact tensorflow=2.18",
            )
        name = re.sub(r"[^a-z0-9]+", "_", key.strip().lower()).strip("_")
        stated = stated.strip()
        if not stated:
            continue
        texts.append(f"{name}: {stated}")
        reader = _READERS.get(_KEYS.get(name, ""))
        told = reader(stated) if reader else _plain(name, stated)
        values |= {fact: value for fact, value in told.items() if values.get(fact) is None}
    said = read_sayings("\n".join(texts))
    for fact, value in said.items():
        values.setdefault(fact, value)
    values |= {name: value for name, value in _of_gpu(values).items() if values.get(name) is None}
    return known(values, "stated", tuple(texts))


def _platform(stated: str) -> dict[str, Value | None]:
    found: dict[str, Value | None] = {}
    lowered = stated.lower()
    for pattern, facts in _PLATFORM_WORDS:
        if re.search(pattern, lowered):
            found = {**facts, **found}
    if re.search(r"aarch64|arm64|grace|\bgb10\b|\barm\b", lowered) and found.get("os") != "macos":
        found["arch"] = "aarch64"
    if found.get("os") == "windows" or (found.get("os") == "linux" and found.get("hosted")):
        found.setdefault("wsl", False)
    return found


def _tensorflow(stated: str) -> dict[str, Value | None]:
    lowered = stated.lower()
    found: dict[str, Value | None] = {}
    present = re.search(r"(\d+\.\d+[\w.]*) (?:is )?(?:present|installed)", lowered)
    wanted = re.search(r"(?:wanted|latest|asked)[^\d]{0,10}(\d+\.\d+[\w.]*)|(\d+\.\d+[\w.]*) wanted", lowered)
    if wanted:
        found["tensorflow_wanted"] = next(group for group in wanted.groups() if group)
    if present or not wanted:
        found["tensorflow"] = versions.first(present[1] if present else lowered)
    for word, build in (("rocm", "rocm"), ("cpu", "cpu"), ("intel", "cpu"), ("macos", "cpu")):
        if re.search(rf"\b{word}\b", lowered):
            found["tensorflow_build"] = build
            break
    return found


def _gpu(stated: str) -> dict[str, Value | None]:
    names = tuple(
        part.strip() for part in re.split(r"\s*(?:;|\+|\band\b|, (?=\D))\s*", stated) if part.strip()
    )
    count = re.search(r"(?<![\w.])(\d{1,2}) ?(?:x|gpus)(?![a-z0-9])", stated.lower())
    return {
        "gpu": names, "gpu_vendor": gpus.vendor(stated),
        "gpu_count": int(count[1]) if count else None,
        "mig": True if re.search(r"\bmig\b", stated.lower()) else None,
        "nvswitch": True if re.search(r"nvswitch|\b[hd]gx\b", stated.lower()) else None,
    }  # fmt: skip


def _cuda(stated: str) -> dict[str, Value | None]:
    version = versions.first(stated) or (stated if re.fullmatch(r"\d{1,2}", stated) else None)
    of_driver = re.search(r"driver|compat|nvidia-smi", stated.lower()) is not None
    return {"driver_cuda" if of_driver else "cuda_toolkit": version}


def _driver(stated: str) -> dict[str, Value | None]:
    found = re.findall(r"(?<![\d.])(\d{3}(?:\.\d{1,3}){0,2})(?![\d])", stated)
    cuda = re.search(r"cuda (\d+\.\d+)", stated.lower())
    facts: dict[str, Value | None] = {
        "driver": found[0] if found else None,
        "driver_cuda": cuda[1] if cuda else None,
    }
    if re.search(r"nouveau", stated.lower()):
        facts["nouveau"] = True
    return facts


def _cpu(stated: str) -> dict[str, Value | None]:
    found: dict[str, Value | None] = dict(read_sayings(stated))
    return {"cpu_avx": found.get("cpu_avx"), "arch": found.get("arch")}


def _arch(stated: str) -> dict[str, Value | None]:
    lowered = stated.lower()
    if re.search(r"aarch64|arm", lowered):
        return {"arch": "aarch64"}
    return {"arch": "x86_64" if re.search(r"x86|amd64|x64", lowered) else None}


def _version_of(name: str) -> Callable[[str], dict[str, Value | None]]:
    return lambda stated: {name: versions.first(stated) or (stated if stated.isdigit() else None)}


def _plain(name: str, stated: str) -> dict[str, Value | None]:
    """Take a fact under its own name, so that any name of the catalogue can be stated."""
    if name not in FACTS:
        return {}
    words: dict[str, Value] = {"true": True, "yes": True, "false": False, "no": False}
    if stated.lower() in words:
        return {name: words[stated.lower()]}
    if re.fullmatch(r"\d{1,9}", stated):
        return {name: int(stated)}
    return {name: stated}


def _of_gpu(values: dict[str, Value | None]) -> dict[str, Value | None]:
    names = values.get("gpu")
    return gpu_facts(names) if isinstance(names, tuple) else {}


def gpu_facts(names: Sequence[str]) -> dict[str, Value | None]:
    """Return what the names of the GPUs imply: maker, lowest and highest compute capability."""
    capabilities = sorted((c for name in names if (c := gpus.compute_capability(name))), key=float)
    makers = [maker for name in names if (maker := gpus.vendor(name)) not in {None, "none"}]
    maker = (
        "nvidia"
        if "nvidia" in makers
        else (makers[0] if makers else gpus.vendor(names[0]) if names else None)
    )
    return {
        "gpu_vendor": maker,
        "gpu_cc": capabilities[0] if capabilities else None,
        "gpu_cc_max": capabilities[-1] if capabilities else None,
    }


_READERS: dict[str, Callable[[str], dict[str, Value | None]]] = {
    "platform": _platform, "tensorflow": _tensorflow, "python": _version_of("python"), "gpu": _gpu, "driver": _driver,
    "cuda": _cuda, "arch": _arch, "cpu": _cpu, "glibc": _version_of("glibc"), "numpy": _version_of("numpy"),
    "protobuf": _version_of("protobuf"), "keras": _version_of("keras"),
    "visible": lambda stated: {"visible_devices": stated},
    "loader": lambda stated: {"loader_path": stated}, "cc": lambda stated: {"gpu_cc": versions.first(stated),
    "gpu_cc_max": versions.first(stated)},
}  # fmt: skip
