"""Commands for the switch: its program, ports, queues, mirroring sessions and clock."""

import sys
from pathlib import Path

from thriftpy2.thrift import TApplicationException

from p4sched.bmv2.base import BaseCommands, at_least, handle, words
from p4sched.bmv2.connection import INTERFACE
from p4sched.bmv2.program import InputError, Program
from p4sched.bmv2.values import integer
from p4sched.errors import UsageError
from p4sched.units import Rate

LAST_PORT = 510
LAST_PRIORITY = 7
MOST_WORDS_OF_A_QUEUE = 3


class SwitchCommands(BaseCommands):
    """Commands that need no object of the program."""

    def do_load_new_config_file(self, line: str) -> None:
        """Load another program next to the running one: load_new_config_file <JSON file>."""
        path = Path(words(line, 1)[0])
        if not path.is_file():
            raise InputError("Not a valid filename")
        print("Loading new Json config")
        try:
            text = path.read_text(encoding="utf-8")
            program = Program(text)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except (ValueError, InputError):
            raise InputError("Not a valid JSON file") from None
        self.standard.bm_load_new_config(text)
        self.program = program

    def do_swap_configs(self, line: str) -> None:
        """Start the loaded program in place of the running one: swap_configs."""
        words(line, 0)
        print("Swapping configs")
        self.standard.bm_swap_configs()

    def do_write_config_to_file(self, line: str) -> None:
        """Write the JSON of the program to a file: write_config_to_file <file>."""
        path = Path(words(line, 1)[0])
        text = self.standard.bm_get_config()
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None

    def do_reset_state(self, line: str) -> None:
        """Remove all entries, and set registers and counters to 0: reset_state."""
        words(line, 0)
        self.standard.bm_reset_state()

    def do_port_add(self, line: str) -> None:
        """Attach an interface to a port: port_add <interface> <port>."""
        interface, port, *more = at_least(line, 2)
        number = self._port(port)
        if more:
            # in BMv2, the third word is a file to which the packets of the port are written
            print(f"Ignored: {' '.join(more)}", file=sys.stderr)
        self.standard.bm_dev_mgr_add_port(interface, number, "")

    def do_port_remove(self, line: str) -> None:
        """Detach the interface of a port: port_remove <port>."""
        self.standard.bm_dev_mgr_remove_port(self._port(words(line, 1)[0]))

    def _port(self, word: str) -> int:
        return handle(word, "port_num, must be an integer")

    def do_show_ports(self, line: str) -> None:
        """Show the ports: show_ports."""
        words(line, 0)
        ports = self.standard.bm_dev_mgr_show_ports()
        print(f"{'port #':^10}{'iface name':^20}{'status':^10}extra info")
        print("=" * 50)
        for port in ports:
            print(f"{port.port_num:^10}{port.iface_name:^20}{'UP' if port.is_up else 'DOWN':^10}")

    def do_switch_info(self, line: str) -> None:
        """Show device and sockets: switch_info."""
        words(line, 0)
        info = self.standard.bm_mgmt_get_info()
        for name in ("device_id", "thrift_port", "notifications_socket", "elogger_socket", "debugger_socket"):
            print(f"{name:25}: {getattr(info, name)}")

    def do_set_queue_depth(self, line: str) -> None:
        """Set how many packets queues can hold: set_queue_depth <packets> [<port> [<priority>]]."""
        match self._queues(line, "nb_pkts"):
            case [packets]:
                self.switch.set_all_egress_queue_depths(packets)
            case [packets, port]:
                self.switch.set_egress_queue_depth(port, packets)
            case [packets, port, priority]:
                self.switch.set_egress_priority_queue_depth(port, priority, packets)

    def do_set_queue_rate(self, line: str) -> None:
        """Limit each queue to a rate in packets a second: set_queue_rate <packets/s> [<port> [<priority>]]."""
        match self._queues(line, "rate_pps"):
            case [rate]:
                self.switch.set_all_egress_queue_rates(rate)
            case [rate, port]:
                self.switch.set_egress_queue_rate(port, rate)
            case [rate, port, priority]:
                self.switch.set_egress_priority_queue_rate(port, priority, rate)

    def do_set_port_rate(self, line: str) -> None:
        """Set the rate of a port, which its queues share: set_port_rate <10mbit|none> <port>.

        BMv2 lacks this command. The port then bypasses the tc settings of its interface.
        """
        rate, port = words(line, 2)
        number = self._port_of_queues(port)
        try:
            bits_per_second = 0 if rate == "none" else int(Rate.parse(rate))
        except UsageError as error:
            raise InputError(str(error)) from None
        self._ask_for_port_rate("set_port_rate", number, bits_per_second)

    def do_get_port_rate(self, line: str) -> None:
        """Show the rate of a port, which its queues share: get_port_rate <port>."""
        rate = self._ask_for_port_rate("get_port_rate", self._port_of_queues(words(line, 1)[0]))
        print(Rate(rate) if rate else "none")

    def _port_of_queues(self, word: str) -> int:
        number = integer(word, "egress_port")
        if not 0 <= number <= LAST_PORT:
            raise InputError(f"Bad egress_port {number}, it is 0 to {LAST_PORT}")
        return number

    def _ask_for_port_rate(self, method: str, *arguments: int) -> int:
        try:
            return int(getattr(self.switch, method)(*arguments) or 0)
        except TApplicationException as error:
            if error.type != TApplicationException.UNKNOWN_METHOD:
                raise
            raise InputError(
                "This switch has no rate for a port; BMv2 limits each queue by itself (set_queue_rate)"
            ) from None

    def _queues(self, line: str, what: str) -> list[int]:
        """The number, port and priority of a line; port and priority are optional.

        BMv2 silently ignores unknown queues and additional words.
        """
        numbers = [integer(word, f"{what}, egress_port or priority") for word in at_least(line, 1)]
        if len(numbers) > MOST_WORDS_OF_A_QUEUE:
            raise InputError(f"Wrong number of args, expected at most {MOST_WORDS_OF_A_QUEUE} but got {len(numbers)}")
        places = (("egress_port", LAST_PORT), ("priority", LAST_PRIORITY))
        for (name, last), number in zip(places, numbers[1:], strict=False):
            if not 0 <= number <= last:
                raise InputError(f"Bad {name} {number}, it is 0 to {last}")
        return numbers

    def do_mirroring_add(self, line: str) -> None:
        """Send clones of a session to a port: mirroring_add <session> <port>."""
        session, port = words(line, 2)
        place = INTERFACE.Session(port=integer(port, "egress_port"))
        self.switch.mirroring_session_add(integer(session, "mirror_id"), place)

    def do_mirroring_add_mc(self, line: str) -> None:
        """Send clones of a session to a multicast group: mirroring_add_mc <session> <group>."""
        session, group = words(line, 2)
        place = INTERFACE.Session(mgid=integer(group, "mgrp"))
        self.switch.mirroring_session_add(integer(session, "mirror_id"), place)

    def do_mirroring_delete(self, line: str) -> None:
        """Remove a session: mirroring_delete <session>."""
        self.switch.mirroring_session_delete(integer(words(line, 1)[0], "mirror_id"))

    def do_mirroring_get(self, line: str) -> None:
        """Show where the clones of a session go: mirroring_get <session>."""
        session = self.switch.mirroring_session_get(integer(words(line, 1)[0], "mirror_id"))
        print(f"MirroringSessionConfig(port={session.port}, mgid={session.mgid})")

    def do_get_time_elapsed(self, line: str) -> None:
        """Show the time since the switch started, in microseconds: get_time_elapsed."""
        words(line, 0)
        print(self.switch.get_time_elapsed_us())

    def do_get_time_since_epoch(self, line: str) -> None:
        """Show the switch's wall clock, in microseconds since 1970: get_time_since_epoch."""
        words(line, 0)
        print(self.switch.get_time_since_epoch_us())
