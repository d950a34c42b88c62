import sys
from pathlib import Path

import pytest

from steptime.environment.packages import installed, read_packages, tensorflow_folder, wanted_libraries

CUDA_BUILD = (
    "build_info = collections.OrderedDict([('cuda_compute_capabilities', ['sm_60', "
    "'compute_90']), ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True),"
    " ('is_rocm_build', False)])\n"
)


def site(root: Path, *distributions: str, build: str | None = None) -> list[str]:
    for name in distributions:
        (root / f"{name}.dist-info").mkdir()
    if build is not None:
        folder = root / "tensorflow/python/platform"
        folder.mkdir(parents=True)
        (root / "tensorflow/__init__.py").write_text("")
        (folder / "build_info.py").write_text(build)
    return [str(root)]


def test_packages_are_read_from_the_names_of_their_folders(tmp_path):
    paths = site(tmp_path, "tensorflow_cpu-2.21.0", "numpy-2.4.6", "nvidia_cudnn_cu12-9.3.0.75")
    assert installed(paths) == {"numpy": "2.4.6", "nvidia-cudnn-cu12": "9.3.0.75", "tensorflow-cpu": "2.21.0"}


def test_the_build_is_read_without_importing(tmp_path):
    facts = read_packages(site(tmp_path, "tensorflow-2.20.0", "numpy-2.1.0", build=CUDA_BUILD))
    assert facts["tensorflow"] == "2.20.0"
    assert facts["tensorflow_build"] == "cuda"
    assert facts["tensorflow_cuda"] == "12.5.1"
    assert facts["tensorflow_ccs"] == "sm_60, compute_90"
    assert facts["numpy"] == "2.1.0"
    assert "tensorflow" not in sys.modules or facts["bytecode_cached"] is False


def test_two_tensorflows_are_both_listed(tmp_path):
    assert read_packages(site(tmp_path, "tensorflow-2.21.0", "tensorflow_cpu-2.21.0"))[
        "tensorflow_packages"
    ] == ("tensorflow", "tensorflow-cpu")


def test_the_intel_package_beside_tensorflow_on_windows_is_no_second_tensorflow(tmp_path):
    assert read_packages(site(tmp_path, "tensorflow-2.18.0", "tensorflow_intel-2.18.0"))[
        "tensorflow_packages"
    ] == ("tensorflow",)


def test_without_tensorflow_its_state_is_absent(tmp_path):
    facts = read_packages(site(tmp_path, "numpy-2.1.0"))
    assert facts["tensorflow_state"] == "absent"
    assert facts["tensorflow"] is None


@pytest.mark.parametrize(
    "build", ["", "build_info = broken(", "build_info = collections.OrderedDict([(1, open)])"]
)
def test_a_damaged_build_file_leaves_the_build_unknown(tmp_path, build):
    assert read_packages(site(tmp_path, "tensorflow-2.20.0", build=build))["tensorflow_build"] is None


def test_a_missing_folder_on_the_import_path_is_passed_over(tmp_path):
    assert installed([str(tmp_path / "nowhere")]) == {}
    assert tensorflow_folder([str(tmp_path / "nowhere")]) is None


def test_a_file_that_hides_tensorflow_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_packages([])["local_shadow"] == "none"
    (tmp_path / "tensorflow.py").write_text("")
    assert read_packages([])["local_shadow"] == "tensorflow.py"


@pytest.mark.skipif(sys.platform != "linux", reason="the library names are those of Linux")
@pytest.mark.parametrize(
    ("cuda", "cudnn", "names"),
    [
        ("12.5.1", "9", {"libcudart.so.12", "libcudnn.so.9"}),
        ("11.8", "8", {"libcudart.so.11.0", "libcudnn.so.8"}),
    ],
)
def test_the_wanted_libraries_follow_the_build(cuda, cudnn, names):
    assert names <= set(
        wanted_libraries({"tensorflow_build": "cuda", "tensorflow_cuda": cuda, "tensorflow_cudnn": cudnn})
    )
    assert wanted_libraries({"tensorflow_build": "cpu"}) == {}
