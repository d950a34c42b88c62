"""The manifest for Kubernetes is valid, and its pods tell TensorFlow who they are; no cluster is asked."""

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")

from steptime.environment.several import tf_config_fault  # noqa: E402 - below what may skip this file

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests/data/kubernetes/schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def manifest() -> dict[str, Any]:
    """The objects of the manifest, by kind."""
    text = (ROOT / "examples/kubernetes/job.yaml").read_text(encoding="utf-8")
    return {item["kind"]: item for item in yaml.safe_load_all(text)}


def faults(item: dict[str, Any]) -> list[str]:
    schema = {**SCHEMA, "$ref": f"#/definitions/{SCHEMA['kinds'][item['kind']]}"}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(item)]


def pod(manifest: dict[str, Any]) -> Any:
    return manifest["Job"]["spec"]["template"]["spec"]


def test_every_object_is_as_kubernetes_expects_it(manifest: dict[str, Any]) -> None:
    assert set(manifest) == {"Job", "Service"}
    assert {kind: faults(item) for kind, item in manifest.items()} == {"Job": [], "Service": []}


def test_the_schema_refuses_what_kubernetes_refuses(manifest: dict[str, Any]) -> None:
    wrong = copy.deepcopy(manifest["Job"])
    wrong["spec"]["template"]["spec"]["containers"][0]["imagine"] = "x"
    assert any("imagine" in fault for fault in faults(wrong))
    wrong = copy.deepcopy(manifest["Job"])
    wrong["spec"]["completions"] = "two"
    assert faults(wrong)
    wrong = copy.deepcopy(manifest["Job"])
    del wrong["spec"]["template"]
    assert faults(wrong)


def test_the_parts_of_the_manifest_fit_each_other(manifest: dict[str, Any]) -> None:
    job, service, spec = manifest["Job"]["spec"], manifest["Service"], pod(manifest)
    (container,) = spec["containers"]
    workers = int(next(item["value"] for item in container["env"] if item["name"] == "WORKERS"))

    assert job["completions"] == job["parallelism"] == workers
    assert spec["subdomain"] == service["metadata"]["name"]
    # Kubernetes gives the pods of a job this label.
    assert service["spec"]["selector"] == {"job-name": manifest["Job"]["metadata"]["name"]}
    assert container["ports"][0]["containerPort"] == service["spec"]["ports"][0]["port"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        item["name"] for item in spec["volumes"]
    }


@pytest.mark.parametrize(("index", "workers"), [(0, 2), (1, 2), (4, 5)])
def test_each_pod_tells_tensorflow_who_it_is(
    manifest: dict[str, Any], tmp_path: Path, index: int, workers: int
) -> None:
    (container,) = pod(manifest)["containers"]
    stand_in = tmp_path / "steptime"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$TF_CONFIG" "$@"\n')
    stand_in.chmod(0o755)
    done = subprocess.run(
        [*container["command"], *container["args"]],
        env={
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "WORKERS": str(workers),
            "JOB_COMPLETION_INDEX": str(index),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    text, *arguments = done.stdout.splitlines()
    config = json.loads(text)

    assert tf_config_fault(text) is None
    assert config["task"] == {"type": "worker", "index": index}
    assert config["cluster"]["worker"] == [f"steptime-{number}.steptime:2222" for number in range(workers)]
    assert arguments[0] == "train"
