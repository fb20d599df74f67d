"""`p4sched prove laws`: the decisions of the control laws are legal, for any counters."""

import time

import typer

FRAME_BYTES, PERIOD_NS, POLLS = 1500, 800_000_000, 100
"""A user that is active in some windows and not in others."""


def laws() -> int:
    """Prints each claim. Returns 1 if one is false or open."""
    from p4sched.proofs.law_loop import between_active_and_not, rest_claim  # noqa: PLC0415 needs Z3
    from p4sched.proofs.law_samples import estimates  # noqa: PLC0415
    from p4sched.proofs.laws import parameter_claims  # noqa: PLC0415

    started, count, not_proved = time.monotonic(), 0, 0
    for claims in (parameter_claims(), estimates(), iter([rest_claim()])):
        for found in claims:
            count += 1
            not_proved += not found.proved
            sign = {True: "✓", False: "✗", None: "?"}[found.proved]
            typer.echo(f"{sign} {found.name}: {found.example}")
    changes = len(between_active_and_not(PERIOD_NS, FRAME_BYTES, POLLS))
    typer.echo(
        f"  near the threshold they do not rest: a frame of {FRAME_BYTES} bytes every {PERIOD_NS // 10**6} ms"
        f" changes FDPA's bands {changes} times in {POLLS // 10} s"
    )
    typer.echo(f"laws: {count - not_proved} of {count} claims proved in {time.monotonic() - started:.0f} s")
    return int(not_proved > 0)
