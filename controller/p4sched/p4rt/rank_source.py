"""Source of the ranks of packets: the choice of `p4/include/rank.p4`."""

from enum import IntEnum

from p4sched import constants
from p4sched.errors import unknown_name
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.session import Session

TABLE = "rank_sources"


class RankSource(IntEnum):
    """Source of a packet's rank (p4/include/rank.p4)."""

    STATIC = constants.RANK_STATIC
    """Table `flow_ranks`."""
    HEADER = constants.RANK_HEADER
    """The rank header of UDP datagrams to ports 5376 to 5631."""
    TOS = constants.RANK_TOS
    """The TOS byte."""
    STFQ = constants.RANK_STFQ
    """Start-time fair queueing: the virtual start time, computed by the switch."""

    @classmethod
    def parse(cls, text: object) -> "RankSource":
        """Reads "static", "header", "tos" or "stfq"."""
        found = {source.name.lower(): source for source in cls}
        if str(text) not in found:
            raise unknown_name("rank source", str(text), found)
        return found[str(text)]

    def __str__(self) -> str:
        return self.name.lower()


async def set_rank_source(session: Session, source: RankSource) -> None:
    """Sets the source of the ranks on every port without its own entry. Raises SessionError if the program has no
    ranks."""
    if session.schema.tables.get(TABLE) is None:
        raise SessionError(f"switch {session.address}: its program has no table {TABLE}; its packets have no ranks")
    await session.set_default_action(TABLE, "set_rank_source", {"rank_source": int(source)})
