import getpass
import socket
from pathlib import Path

from steptime.environment.facts import known, to_json
from steptime.environment.privacy import without_personal_data

ENVIRON = {
    "USER": "marie.planted", "HOSTNAME": "lab-pc-77", "HOME": "/srv/people/marie.planted",
    "API_KEY": "zebra-planted-42", "WANDB_TOKEN": "tok-planted",
}  # fmt: skip
PLANTED = (
    "I cuda_diagnostics.cc:169] retrieving CUDA diagnostic information for host: lab-pc-77",
    'File "/srv/people/marie.planted/train.py", line 3',
    'File "/home/otto/venv/lib/python3.12/site-packages/tensorflow/__init__.py"',
    r"File C:\Users\Erika Mustermann\model.py",
    "connecting to 192.168.17.23:8080 and fe80::1ff:fe23:4567:890a, mail erika@example.org",
    "password=hunter2planted api_key: 'sesame-planted'",
    "started with zebra-planted-42 and tok-planted",
    "GPU 0: Tesla T4 (UUID: GPU-1a2b3c4d-1111-2222-3333-444455556666)",
    "https://marie:geheim@git.example.org/x",
    "device 00:1a:2b:3c:4d:5e",
)
SECRETS = (
    "marie", "lab-pc-77", "/srv/people", "otto", "Erika", "192.168.17.23", "fe80::", "erika@example.org", "hunter2",
    "sesame", "zebra", "tok-planted",
    "1a2b3c4d", "geheim", "00:1a:2b",
)  # fmt: skip


def test_planted_personal_data_are_gone_and_the_rest_stays():
    facts = known(
        {
            "loader_path": "/home/otto/cuda/lib64:/usr/local/cuda/lib64",
            "cudnn_wheel": "9.3.0.75",
            "driver": "535.129.03",
        },
        "read here",
        PLANTED,
    )
    text = to_json(without_personal_data(facts, environ=ENVIRON))
    for secret in SECRETS:
        assert secret not in text, secret
    for kept in (
        "/usr/local/cuda/lib64",
        "9.3.0.75",
        "535.129.03",
        "Tesla T4",
        "site-packages/tensorflow/__init__.py",
        "cuda_diagnostics.cc:169",
    ):
        assert kept in text, kept


def test_the_names_of_this_process_are_gone():
    facts = known({}, "x", (f"{getpass.getuser()}x at {socket.gethostname()} in {Path.home()}/x",))
    text = to_json(without_personal_data(facts))
    assert f"in {Path.home()}/x" not in text
    assert f"at {socket.gethostname()} " not in text or socket.gethostname() == "localhost"


def test_time_stamps_of_logs_are_no_addresses():
    line = "2026-01-02 03:04:05.678901: I tensorflow/core/util/port.cc:153] oneDNN 00:00:1738697930.202924"
    assert without_personal_data(known({}, "x", (line,)), environ={}).texts == (line,)
