"""Cost of a lookup in small and large tables, and memory of an entry, without a controller."""

from typing import Any

from rich.table import Table

from p4sched.bench.part import Outcome, Target, rust_bench

FLAT = 3.0
"""Goal: a packet takes at most this many times as long through the largest table as through the smallest. A table that
does not fit into the caches costs a few more misses."""


def measure() -> Outcome:
    """Measures exact, prefix and ternary tables, with compiled and with interpreted programs."""
    table = Table(title="Lookups in tables: time of a packet through ingress", title_justify="left")
    for column in ("table", "program", "entries", "ns a packet", "ns an insert", "bytes/entry"):
        table.add_column(column, justify="left" if column in ("table", "program") else "right")
    found: list[dict[str, Any]] = rust_bench("tables")
    targets = []
    for kind in found:
        name, way = kind["table"].removeprefix("LargeIngress."), "compiled" if kind["compiled"] else "interpreted"
        for size in kind["sizes"]:
            last = size is kind["sizes"][-1]
            memory = f"{kind['bytes_per_entry']:.0f}" if last else ""
            entries, packet, insert = size["entries"], size["packet_ns"], size["insert_ns"]
            table.add_row(name, way, f"{entries:,}", f"{packet:.0f}", f"{insert:.0f}", memory)
        smallest, largest = kind["sizes"][0], kind["sizes"][-1]
        ratio = largest["packet_ns"] / smallest["packet_ns"]
        what = f"{name}, {way}: {largest['entries']:,} against {smallest['entries']:,} entries"
        targets.append(Target(what, ratio, FLAT, at_most=True))
    return Outcome(table, {"tables": found}, targets)
