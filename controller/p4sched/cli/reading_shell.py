"""A read-only p4runtime-shell.

It sends no election id, so it is never primary (P4Runtime, section "Unset Election ID"). With ``--primary`` it becomes
primary if no controller is. This file runs in the environment of p4runtime-shell, which has no ``p4sched``.
"""

import sys
from typing import Any

from p4runtime_sh import p4runtime, shell  # type: ignore[import-not-found]

PRIMARY = "--primary"
NOT_FOUND = 5
"""Status of an arbitration update while no controller is primary."""


class ReadingClient(p4runtime.P4RuntimeClient):  # type: ignore[misc]
    """Client that becomes primary only on request, and only if no controller is."""

    wants_writing = False
    election_id: tuple[int, int]

    def handshake(self) -> None:
        """Opens the session without an election id."""
        put = self.stream_out_q.put

        def without_election_id(request: Any) -> None:
            request.arbitration.ClearField("election_id")
            put(request)

        if self.wants_writing and self._writing_is_free():
            super().handshake()
            return
        self.stream_out_q.put = without_election_id
        try:
            super().handshake()
        finally:
            self.stream_out_q.put = put

    def _writing_is_free(self) -> bool:
        """Returns True if no controller is primary; in this case also raises the election id above the switch's."""
        request = p4runtime.p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        self.stream_out_q.put(request)
        answer = self.get_stream_packet("arbitration", timeout=2)
        if answer is None or answer.arbitration.status.code != NOT_FOUND:
            return False
        highest = answer.arbitration.election_id
        self.election_id = max(self.election_id, (highest.high, highest.low))
        return True


def main() -> None:
    """Runs p4runtime-shell with this client."""
    ReadingClient.wants_writing = PRIMARY in sys.argv
    sys.argv = [word for word in sys.argv if word != PRIMARY]
    shell.P4RuntimeClient = ReadingClient
    shell.main()


if __name__ == "__main__":
    main()
