"""What the name of a GPU tells: its maker and its CUDA compute capability.

Compute capabilities: NVIDIA's pages "CUDA GPU Compute Capability" and its list of legacy GPUs.
"""

import re
from functools import cache

# The first pattern that matches a lower-case name decides; so special names stand before general ones.
_CAPABILITIES: tuple[tuple[str, str], ...] = (
    (r"jetson.{0,8}thor|\bt[45]000\b.{0,10}(thor|jetson)", "11.0"),
    (r"\bgb10\b|dgx spark", "12.1"),
    (r"\bg?b300\b", "10.3"),
    (r"\bg?b[12]00\b", "10.0"),
    (r"rtx ?-?50[5-9]0|rtx pro ?\d000|rtx pro .{0,12}blackwell|blackwell|\bsm_?120\b|50[5-9]0 ?ti\b", "12.0"),
    (r"\bg?h[12]00\b|\bgh200\b|\bh[28]00\b|\bh20\b|hopper|grace", "9.0"),
    (
        r"rtx ?\d000 ?ada|\bl40s?\b|\bl4\b|\bl20\b|rtx ?-?40[5-9]0|\b40[5-9]0 ?(ti|super)\b|ada lovelace",
        "8.9",
    ),
    (r"orin", "8.7"),
    (
        r"rtx ?a\d{3,4}|\ba10g?\b|\ba16\b|\ba2\b|\ba40\b|rtx ?-?30[5-9]0|\b30[5-9]0 ?(ti|super)?\b|\bmx570\b",
        "8.6",
    ),
    (r"\ba100|\ba30\b|\ba800\b|ampere", "8.0"),
    (r"xavier", "7.2"),
    (
        (
            r"\bt4\b|rtx ?-?20[5-8]0|\b20[5-8]0 ?(ti|super)\b|gtx ?-?16[5-6]0|titan rtx|quadro rtx|"
            r"\bt(400|500|550|600|1000|1200|2000)\b"
            r"|\bmx4[5-9]0\b|turing"
        ),
        "7.5",
    ),
    (r"\bv100|titan v\b|volta|\bgv100\b", "7.0"),
    (r"\btx2\b", "6.2"),
    (r"\bp100\b|\bgp100\b", "6.0"),
    (
        (
            r"gtx ?-?10[1-8]0|\bgt ?10[13]0\b|\b10[5-8]0 ?ti\b|titan x ?p|titan xp|\bp(4|40|400|600|620|"
            r"1000|2000|2200|3200|4000|5000|5200|6000)\b"
            r"|\bmx(150|2[35]0|3[3-5]0)\b|pascal"
        ),
        "6.1",
    ),
    (r"jetson nano|jetson tx1|\btx1\b", "5.3"),
    (
        (
            r"\bm(4|6|10|40|60)\b|gtx ?-?9[5-8]0|titan x\b|\bm(2000|4000|5000|5500|6000|2200)\b|\b9[78]0 "
            r"?ti\b|\b(gtx)? ?965m"
        ),
        "5.2",
    ),
    (
        (
            r"gtx ?-?7[45]0|gtx ?-?(850|860|950|960)m|\b(8[34]0|9[1-4]0|945)mx?\b|\bmx1[1-3]0\b|\bm(500|"
            r"520|600|620|1000|1200)m?\b|\bk(620|1200|2200)\b"
            r"|maxwell"
        ),
        "5.0",
    ),
    (r"\bk80\b", "3.7"),
    (
        (
            r"\bk(20|40)[cmx]?\b|titan black|gtx ?-?titan\b|gtx ?-?780( ti)?\b(?!m)|\bgt ?(7[1-4]0|730)\b|"
            r"\bk(6000|5200|5100)m?\b"
        ),
        "3.5",
    ),
    (
        (
            r"gtx ?-?(6[5-9]0|7[6-8]0m|770|760|8[78]0m)|\bk(10|520|600|1100|2000|3000|4000|4200|5000)m?\b|"
            r"gt ?6[1-5]0|gt ?7[45]0m|kepler"
        ),
        "3.0",
    ),
    (
        (
            r"geforce 2[01]0m?\b|\bgt ?(2[0-4]0|120|130|140)\b|gts ?\d{3}|gtx ?-?2[6-9]\d|geforce "
            r"[89]\d{3}|\bc1060\b|nvs ?(295|300|310)\b"
        ),
        "1.2",
    ),
    (r"gtx ?-?[45][5-9]0|quadro [4-6]000\b|\b[cm]20[57]0\b|fermi", "2.0"),
)
_STATED = re.compile(r"(?:\bcc|compute[_ ]?cap(?:ability)?|\bsm[_ ])[: =]{0,3}(\d{1,2})[._]?(\d)\b")
_VENDORS: tuple[tuple[str, str], ...] = (
    ("amd", r"\bamd|radeon|\bati\b|\brx ?-?\d{3,4}|instinct|\bmi\d{2,3}x?\b|\bvega\b|\bgfx\d{3,4}|firepro"),
    ("apple", r"apple|\bm[1-5]\b( ?(pro|max|ultra))?( |$)|\bmetal\b"),
    (
        "nvidia",
        r"nvidia|geforce|\brtx|\bgtx|quadro|tesla|titan|jetson|grace|\bmx\d{3}\b|dgx|hgx|nvswitch|\bmig\b",
    ),
    ("intel", r"intel|iris|\barc\b|\buhd\b"),
    ("none", r"^(none|no|no gpu|cpu( only)?|-)\b"),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), capability) for pattern, capability in _CAPABILITIES)


def compute_capability(name: str) -> str | None:
    """Return the CUDA compute capability that a GPU's name implies, or ``None`` when the name is not known.

    >>> compute_capability("NVIDIA GeForce RTX 5090 Laptop GPU"), compute_capability("4 x Tesla V100-SXM2")
    ('12.0', '7.0')
    >>> compute_capability("Quadro K4200 (cc 3.0)"), compute_capability("Radeon RX 6600") is None
    ('3.0', True)
    """
    lowered = name.lower()
    if stated := _STATED.search(lowered):
        return f"{stated[1]}.{stated[2]}"
    if vendor(name) in {"amd", "apple", "intel", "none"}:
        return None
    return next((capability for pattern, capability in _compiled() if pattern.search(lowered)), None)


def vendor(name: str) -> str | None:
    """Return the maker that a GPU's name implies: nvidia, amd, intel, apple, none, or ``None`` for unknown.

    >>> vendor("Tesla T4"), vendor("AMD Radeon RX 6800"), vendor("Apple M2 Pro"), vendor("none"), vendor("A100")
    ('nvidia', 'amd', 'apple', 'none', 'nvidia')
    """
    lowered = name.lower().strip()
    if re.search(_VENDORS[2][1], lowered):
        return "nvidia"
    for maker, pattern in _VENDORS:
        if re.search(pattern, lowered):
            return maker
    known = any(pattern.search(lowered) for pattern, _ in _compiled())
    return "nvidia" if known else None
