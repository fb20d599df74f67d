"""FDPA's controller: from the byte counters of all users to the edges of the bands."""

ACTIVE_BYTES = 1000
WINDOW_MS = 600


def decide(memory, sample):
    """Called about ten times a second. `memory` is a dict that is yours; it is empty at first.

    sample["time_ms"]       now
    sample["users"]         for each user: {"user": number, "bytes": sent since the start, "weight": weight}
    sample["capacity_bps"]  rate of the link, bit/s
    sample["interval_ms"]   interval of the switch's estimator
    sample["bands"]         edges of the bands in fair shares, for example [1, 1.5, 2, 2.5]

    All of them may change from call to call.

    Returns {"active": numbers of the active users, "edges": edges of the bands in bytes of one interval}.
    """
    users = sorted(sample["users"], key=lambda user: user["user"])

    # Task 2: who is active?
    # TODO: as it is, every user is active. Only those are that sent at least ACTIVE_BYTES in the last WINDOW_MS.
    active = [user["user"] for user in users]

    # Task 1: the edges.
    # TODO: the fair share is the capacity of one interval, in bytes, over the sum of the active users' weights.
    # An edge is a band times the fair share.
    edges = [0 for band in sample["bands"]]

    # Task 4: nobody is active.
    # TODO: the edges stay as they were. If nobody ever was, they are those of one user of weight 1.

    return {"active": active, "edges": edges}


def increment(before, now):
    """Bytes since the poll before."""
    # Task 3: a counter that was reset.
    # TODO
    return now - before
