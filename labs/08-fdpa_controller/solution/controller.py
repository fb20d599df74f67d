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
    now = sample["time_ms"]
    users = sorted(sample["users"], key=lambda user: user["user"])

    # Task 2: who is active?
    polls = memory.setdefault("polls", [])
    totals = {user["user"]: user["bytes"] for user in users}
    if "totals" in memory:
        before = memory["totals"]
        polls.append((now, {user: increment(before.get(user, 0), total) for user, total in totals.items()}))
    memory["totals"] = totals
    memory["polls"] = polls = [poll for poll in polls if poll[0] >= now - WINDOW_MS]
    sent = {user: sum(poll[1].get(user, 0) for poll in polls) for user in totals}
    active = [user for user in totals if sent[user] >= ACTIVE_BYTES]

    # Task 1: the edges.
    weight = sum(user["weight"] for user in users if user["user"] in active)
    # Task 4: nobody is active.
    if weight == 0:
        weight = 1
        if "edges" in memory:
            return {"active": [], "edges": memory["edges"]}
    share = sample["capacity_bps"] / 8 * sample["interval_ms"] / 1000 / weight
    edges = [round(band * share) for band in sample["bands"]]
    memory["edges"] = edges
    return {"active": active, "edges": edges}


def increment(before, now):
    """Bytes since the poll before."""
    # Task 3: a counter that was reset.
    if now < before:
        return now
    return now - before
