"""The ways of a packet, of a decision and of a command through the laboratory."""

from docs.figures.canvas import FAINT, PANEL, Canvas

SWITCH = "#e3eef4"
PYTHON = "#eaf3e6"
HOST = "#f7f0df"


def packet() -> Canvas:
    """Way of a packet from a host through the switch to the server."""
    canvas = Canvas(860, 338, "The way of a packet: host, ring, ingress, queues, link, egress, transmit, server")
    canvas.rect(150, 20, 560, 284, fill=SWITCH, stroke="none", round_=8)
    canvas.text(162, 42, "p4sched-switch: one thread", at="start", size=12, fill=FAINT)
    canvas.box(10, 84, 116, 64, "host", "kernel TCP", fill=HOST)
    canvas.box(734, 84, 116, 64, "server", "kernel TCP", fill=HOST)
    canvas.box(166, 84, 130, 64, "receive ring", "kernel timestamp", fill=PANEL)
    canvas.box(324, 84, 116, 64, "ingress", "P4: the rule", fill=PANEL)
    canvas.box(468, 84, 116, 64, "queues", "up to 8 a port", fill=PANEL)
    canvas.box(468, 196, 116, 64, "link", "bit/s, exact", fill=PANEL)
    canvas.box(324, 196, 116, 64, "egress", "P4: counters", fill=PANEL)
    canvas.box(166, 196, 130, 64, "delay line", "propagation", fill=PANEL)
    canvas.box(612, 84, 86, 64, "transmit", "sendmmsg", fill=PANEL)
    for start, end in ((126, 166), (296, 324), (440, 468)):
        canvas.line((start, 116), (end - 2, 116), tip=True)
    canvas.line((526, 148), (526, 194), tip=True)
    canvas.line((468, 228), (442, 228), tip=True)
    canvas.line((324, 228), (298, 228), tip=True)
    canvas.line((231, 260), (231, 290), (655, 290), (655, 150), tip=True)
    canvas.line((698, 116), (732, 116), tip=True)
    canvas.line((526, 84), (526, 62), (382, 62), (382, 82), tip=True, dashed=True)
    canvas.text(454, 56, "@queue_depth: lengths", size=12)
    canvas.text(
        430,
        324,
        "Every event has its own ideal time. The thread handles events in that order, also when it wakes late.",
        size=13,
    )
    return canvas


def decision() -> Canvas:
    """Way of a decision from counters to parameters, ten times a second."""
    canvas = Canvas(860, 270, "The way of a decision: read counters, compute parameters, write them by one MODIFY")
    canvas.box(20, 60, 190, 110, "switch", "counters of the program", "default action: parameters", fill=SWITCH)
    canvas.box(320, 60, 130, 110, "loop", "every 100 ms", fill=PYTHON)
    canvas.box(
        560, 40, 270, 80, "law", "(config, state, sample) → decision", "no clock, no input or output", fill=PYTHON
    )
    canvas.box(560, 166, 270, 64, "decision log", "JSON lines; p4sched replay", fill=PANEL)
    canvas.line((210, 92), (318, 92), tip=True)
    canvas.text(264, 84, "Read", size=13)
    canvas.line((320, 142), (212, 142), tip=True)
    canvas.lines(266, 162, ("one MODIFY,", "if changed"), size=13)
    canvas.line((450, 76), (558, 76), tip=True)
    canvas.text(504, 68, "sample", size=13)
    canvas.line((560, 104), (452, 104), tip=True)
    canvas.text(504, 122, "decision", size=13)
    canvas.line((385, 170), (385, 198), (558, 198), tip=True)
    canvas.text(470, 218, "counters and outcome", size=12)
    canvas.text(430, 258, "All parameters change together, between two packets.", size=13)
    return canvas


def command() -> Canvas:
    """Way of a command from `p4sched run NAME` to the table, the figure and summary.json."""
    canvas = Canvas(860, 300, "The way of a command: compiler, network, switch, controller, traffic, results")
    canvas.box(20, 30, 180, 60, "p4sched run NAME", "options", fill=PYTHON)
    canvas.box(250, 30, 180, 60, "compiler", "BMv2 JSON and P4Info", fill=PANEL)
    canvas.box(480, 30, 160, 60, "Mininet", "hosts, links, routes", fill=HOST)
    canvas.box(690, 30, 150, 60, "switch", "program, shaped port", fill=SWITCH)
    canvas.box(690, 130, 150, 60, "controller", "law in its loop", fill=PYTHON)
    canvas.box(480, 130, 160, 60, "traffic", "iperf3, p4sched-traffic", fill=HOST)
    canvas.box(250, 130, 180, 60, "measurement", "samples and lateness", fill=PANEL)
    canvas.box(20, 130, 180, 60, "results", "summary.json, figure, table", fill=PYTHON)
    for start, end in ((200, 248), (430, 478), (640, 688)):
        canvas.line((start, 60), (end, 60), tip=True)
    canvas.line((765, 90), (765, 128), tip=True)
    for start, end in ((690, 642), (480, 432), (250, 202)):
        canvas.line((start, 160), (end, 160), tip=True)
    canvas.line((340, 190), (340, 222), (110, 222), (110, 192), tip=True, dashed=True)
    canvas.text(225, 240, "Was the network the bottleneck? If not: INVALID.", size=13)
    canvas.text(430, 282, "Everything from the network to the measurement is made anew for each scheme.", size=13)
    return canvas


FIGURES = {f"way-of-a-{figure.__name__}": figure for figure in (packet, decision, command)}
"""Figures by the name of their file."""
