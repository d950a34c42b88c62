"""The only place that turns quantities into text: seconds, bytes, rates, shares.

Every function takes a plain number in the unit its name says and returns text for people.
"""


def seconds(value_s: float) -> str:
    """Format a duration in seconds with three significant digits and a fitting unit.

    >>> seconds(0.00123), seconds(1.5), seconds(75), seconds(7200)
    ('1.23 ms', '1.50 s', '1 min 15 s', '2 h 00 min')
    """
    if value_s < 0:
        return f"-{seconds(-value_s)}"
    for limit_s, factor, unit in ((9.995e-7, 1e9, "ns"), (9.995e-4, 1e6, "µs"), (0.9995, 1e3, "ms")):
        if value_s < limit_s:
            return f"{_three_digits(value_s * factor)} {unit}"
    if value_s < 59.95:
        return f"{_three_digits(value_s)} s"
    whole_s = round(value_s)
    if whole_s < 3600:
        return f"{whole_s // 60} min {whole_s % 60:02d} s"
    whole_min = round(value_s / 60)
    return f"{whole_min // 60} h {whole_min % 60:02d} min"


def size_bytes(value_bytes: float) -> str:
    """Format a size in bytes with binary units.

    >>> size_bytes(512), size_bytes(11490519)
    ('512 B', '11.0 MiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value_bytes) < 999.5:
            return f"{value_bytes:.0f} B" if unit == "B" else f"{_three_digits(value_bytes)} {unit}"
        value_bytes /= 1024
    return f"{_three_digits(value_bytes)} TiB"


def rate(value_per_s: float, what: str) -> str:
    """Format a rate, such as samples per second, with thousands separated.

    >>> rate(12345.6, "images")
    '12,346 images/s'
    """
    text = f"{value_per_s:,.0f}" if value_per_s >= 100 else _three_digits(value_per_s)
    return f"{text} {what}/s"


def share(value: float) -> str:
    """Format a share of one as per cent.

    >>> share(0.9876), share(1.0)
    ('98.8 %', '100 %')
    """
    text = f"{value * 100:.1f}"
    return ("100" if text == "100.0" else text) + " %"


def watts(value_w: float) -> str:
    """Format a power in watts."""
    return f"{value_w:.0f} W"


def joules(value_j: float) -> str:
    """Format an energy in joules, or in watt-hours from 36 kJ on.

    >>> joules(1234.5), joules(72000)
    ('1234 J', '20.0 Wh')
    """
    return f"{_three_digits(value_j)} J" if value_j < 36_000 else f"{_three_digits(value_j / 3600)} Wh"


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    if magnitude >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if magnitude >= 9.995 else f"{value:.2f}"
