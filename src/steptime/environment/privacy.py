"""Takes personal data out of facts before they are saved: names, addresses, home folders, secrets."""

import getpass
import os
import re
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

from steptime.environment.facts import Facts, Value

_SECRET = re.compile(
    r"(?i)\b([\w-]*(?:key|token|secret|passw(?:or)?d|credential|auth|cookie|session)"
    r"[\w-]*)(\s*[=:]\s*|['\"]\s*:\s*)(\"[^\"]*\"|'[^']*'|[^\s,;]+)"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)(https?://)[^/\s:@]+:[^/\s@]+@"), r"\1<secret>@"),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), "<email>"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?=[:/\s]|$)(?!\.)"), "<address>"),
    (re.compile(
            r"(?i)\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}\b|\b(?:[0-9a-f]{1,4}:)"
            r"{1,6}:(?:[0-9a-f]{1,4}:?){0,6}"
        ), "<address>"),
    (re.compile(r"(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"), "<address>"),
    (re.compile(r"(?i)\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4,12})*"), "<uuid>"),
    (re.compile(r"\b(?:ghp|gho|hf|sk|pk|xox[bp]|AKIA)[_-]?[A-Za-z0-9_-]{12,}"), "<secret>"),
    (re.compile(
            r"(?i)(?<![\w])(?:/home|/users|/export/home|/data/users|/scratch/users|"
            r"/lustre/home)/[^/\s:'\",;]+"
        ), "<home>"),
    (re.compile(r"(?i)\b[a-z]:\\users\\[^\\\s:'\",;]+"), "<home>"),
    (re.compile(r"(?i)(diagnostic information for host:|hostname:)\s*\S+"), r"\1 <host>"),
)  # fmt: skip
_COMMON = {
    "root",
    "user",
    "admin",
    "ubuntu",
    "localhost",
    "test",
    "python",
    "linux",
    "docker",
    "cuda",
    "tensorflow",
}


def without_personal_data(facts: Facts, *, environ: Mapping[str, str] | None = None) -> Facts:
    """Return the facts with user names, host names, home folders, addresses and secrets replaced.

    Args:
        facts: Facts to save.
        environ: Environment variables whose names and values show what is personal; those of this process by default.
    """
    names = _personal(os.environ if environ is None else environ)

    def clean(text: str) -> str:
        return _clean(text, names)

    def value(raw: Value) -> Value:
        if isinstance(raw, tuple):
            return tuple(clean(item) for item in raw)
        return clean(raw) if isinstance(raw, str) else raw

    return Facts(
        values={name: value(raw) if not _is_version(raw) else raw for name, raw in facts.values.items()},
        origins=facts.origins,
        unknown={name: clean(why) for name, why in facts.unknown.items()},
        texts=tuple(clean(line) for line in facts.texts),
    )


def _is_version(raw: Value) -> bool:
    """Versions of four numbers, as cuDNN's wheels have them, are no addresses."""
    return isinstance(raw, str) and re.fullmatch(r"\d+(\.\d+){1,3}", raw) is not None


def _personal(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for name, word in (
        (_user(), "<user>"),
        (socket.gethostname(), "<host>"),
        (socket.gethostname().split(".")[0], "<host>"),
    ):
        found.setdefault(name, word)
    for variable, word in (("USER", "<user>"), ("LOGNAME", "<user>"), ("USERNAME", "<user>"), ("SUDO_USER", "<user>"),
                           ("HOSTNAME", "<host>"), ("COMPUTERNAME", "<host>")):  # fmt: skip
        found.setdefault(environ.get(variable, ""), word)
    for variable, raw in environ.items():
        if re.search(r"(?i)key|token|secret|passw|credential|auth|cookie", variable) and len(raw) > 5:
            found.setdefault(raw, "<secret>")
    homes = {environ.get("HOME", ""), environ.get("USERPROFILE", ""), str(Path.home())}
    pairs = [(home, "<home>") for home in homes if len(home) > 3]
    pairs += [(name, word) for name, word in found.items() if len(name) > 1 and name.lower() not in _COMMON]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in the password file, as in containers with arbitrary ids
        return ""


def _clean(text: str, names: Iterable[tuple[str, str]]) -> str:
    for name, word in names:
        edge = r"(?<![A-Za-z0-9])" if word != "<secret>" else ""
        end = r"(?![A-Za-z0-9])" if word != "<secret>" else ""
        text = re.sub(edge + re.escape(name) + end, word, text)
    text = _SECRET.sub(r"\1\2<secret>", text)
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return text
