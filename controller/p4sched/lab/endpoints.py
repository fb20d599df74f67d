"""Endpoints of traffic: the seats of users, and destinations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UserSeat:
    """Place of a user."""

    user: int
    """1, 2, ...: also the user id in the switch."""
    host: str
    address: str


@dataclass(frozen=True)
class Destination:
    """Destination of traffic."""

    host: str
    address: str
