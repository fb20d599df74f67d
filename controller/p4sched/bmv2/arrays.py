"""Commands about counters, meters, registers, parser value sets and hashes."""

import sys
from typing import Any

from p4sched.bmv2.base import CONTEXT, BaseCommands, at_least, handle, words
from p4sched.bmv2.connection import INTERFACE
from p4sched.bmv2.program import Array, InputError
from p4sched.bmv2.values import integer


def _rates(meter: Array, texts: list[str]) -> list[Any]:
    if len(texts) != meter.rates:
        raise InputError(f"Invalid number of rates, expected {meter.rates} but got {len(texts)}")
    try:
        pairs = [word.split(":") for word in texts]
        return [INTERFACE.Rate(float(rate), int(burst)) for rate, burst in pairs]
    except ValueError:
        raise InputError("Error while parsing rates") from None


def _flag(word: str) -> bool:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        return bool(int(word, 0))
    except ValueError:
        raise InputError("Invalid bool parameter") from None


def _signed(word: str, width: int) -> int:
    """Converts an unsigned number of `width` bits to the signed number that Thrift sends."""
    try:
        number = int(word, 0)
    except ValueError:
        raise InputError(f"{word} is not a number") from None
    if not 0 <= number < 1 << width:
        raise InputError(f"Integer cannot fit within {width} bits")
    return number - (1 << width) if number >> (width - 1) else number


class ArrayCommands(BaseCommands):
    """Commands for cells. An index selects a cell; a direct counter or meter has a cell for each entry handle."""

    def do_counter_read(self, line: str) -> None:
        """Read a counter: counter_read <counter> <index>."""
        name, index = words(line, 2)
        counter, cell = self.program.counters.get(name), handle(index, "index")
        if counter.table is not None:
            print("this is the direct counter for table", counter.table)
            value = self.standard.bm_mt_read_counter(CONTEXT, counter.table, cell)
        else:
            value = self.standard.bm_counter_read(CONTEXT, counter.name, cell)
        print(f"{name}[{cell}]= ({value.bytes} bytes, {value.packets} packets)")

    def do_counter_write(self, line: str) -> None:
        """Set a counter: counter_write <counter> <index> <packets> <bytes>."""
        name, index, packets, octets = words(line, 4)
        counter, cell = self.program.counters.get(name), handle(index, "index")
        value = INTERFACE.CounterValue(bytes=handle(octets, "bytes"), packets=handle(packets, "packets"))
        if counter.table is not None:
            print("writing to direct counter for table", counter.table)
            self.standard.bm_mt_write_counter(CONTEXT, counter.table, cell, value)
        else:
            self.standard.bm_counter_write(CONTEXT, counter.name, cell, value)
        print(f"{name}[{cell}] has been updated")

    def do_counter_reset(self, line: str) -> None:
        """Set all cells of a counter to 0: counter_reset <counter>."""
        [name] = words(line, 1)
        counter = self.program.counters.get(name)
        if counter.table is not None:
            print("this is the direct counter for table", counter.table)
            self.standard.bm_mt_reset_counters(CONTEXT, counter.table)
        else:
            self.standard.bm_counter_reset_all(CONTEXT, counter.name)

    def do_meter_array_set_rates(self, line: str) -> None:
        """Configure all cells of a meter: meter_array_set_rates <meter> <rate_1>:<burst_1> <rate_2>:<burst_2>."""
        name, *rates = at_least(line, 1)
        meter = self.program.meters.get(name)
        self.standard.bm_meter_array_set_rates(CONTEXT, meter.name, _rates(meter, rates))

    def do_meter_set_rates(self, line: str) -> None:
        """Configure a meter: meter_set_rates <meter> <index> <rate_1>:<burst_1> <rate_2>:<burst_2>.

        A rate is in units a microsecond, a burst in units: packets or bytes, as the program says.
        """
        name, index, *rates = at_least(line, 2)
        meter, cell = self.program.meters.get(name), handle(index, "index")
        if meter.table is not None:
            self.standard.bm_mt_set_meter_rates(CONTEXT, meter.table, cell, _rates(meter, rates))
        else:
            self.standard.bm_meter_set_rates(CONTEXT, meter.name, cell, _rates(meter, rates))

    def do_meter_get_rates(self, line: str) -> None:
        """Read a meter's rates: meter_get_rates <meter> <index>."""
        name, index = words(line, 2)
        meter, cell = self.program.meters.get(name), handle(index, "index")
        if meter.table is not None:
            rates = self.standard.bm_mt_get_meter_rates(CONTEXT, meter.table, cell)
        else:
            rates = self.standard.bm_meter_get_rates(CONTEXT, meter.name, cell)
        if len(rates) != meter.rates:
            print("WARNING: expected", meter.rates, "rates but only received", len(rates))
        for number, rate in enumerate(rates):
            print(f"{number}: info rate = {rate.units_per_micros}, burst size = {rate.burst_size}")

    def do_register_read(self, line: str) -> None:
        """Read a register, or one cell of it: register_read <register> [index]."""
        name, *rest = at_least(line, 1)
        register = self.program.registers.get(name)
        if rest:
            [index] = words(" ".join(rest), 1)
            cell = handle(index, "index")
            print(f"{name}[{cell}]=", self.standard.bm_register_read(CONTEXT, register.name, cell))
            return
        print("register index omitted, reading entire array", file=sys.stderr)
        cells = self.standard.bm_register_read_all(CONTEXT, register.name)
        print(f"{name}=", ", ".join(str(cell) for cell in cells))

    def do_register_write(self, line: str) -> None:
        """Write a cell of a register: register_write <register> <index> <value>."""
        name, index, value = words(line, 3)
        register, cell = self.program.registers.get(name), handle(index, "index")
        self.standard.bm_register_write(CONTEXT, register.name, cell, integer(value, "value"))

    def do_register_reset(self, line: str) -> None:
        """Set all cells of a register to 0: register_reset <register>."""
        [name] = words(line, 1)
        self.standard.bm_register_reset(CONTEXT, self.program.registers.get(name).name)

    def do_show_pvs(self, line: str) -> None:
        """List parser value sets: show_pvs."""
        words(line, 0)
        for _, value_set in sorted(self.program.value_sets.all.items()):
            print(value_set)

    def _value(self, line: str) -> tuple[str, bytes]:
        name, word = words(line, 2)
        value_set = self.program.value_sets.get(name)
        try:
            number = int(word, 0)
        except ValueError:
            raise InputError("Invalid input, could not cast to integer, try in hex with 0x prefix") from None
        if not 0 <= number < 1 << value_set.width:
            raise InputError(f"Input is too large, it should fit within {value_set.width} bits")
        return value_set.name, number.to_bytes((value_set.width + 7) // 8, "big")

    def do_pvs_add(self, line: str) -> None:
        """Add a value to a parser value set: pvs_add <value set> <value>."""
        self.standard.bm_parse_vset_add(CONTEXT, *self._value(line))

    def do_pvs_remove(self, line: str) -> None:
        """Remove a value from a parser value set: pvs_remove <value set> <value>."""
        self.standard.bm_parse_vset_remove(CONTEXT, *self._value(line))

    def do_pvs_get(self, line: str) -> None:
        """Show the values of a parser value set: pvs_get <value set>."""
        [name] = words(line, 1)
        for value in self.standard.bm_parse_vset_get(CONTEXT, self.program.value_sets.get(name).name):
            print(value.hex())

    def do_pvs_clear(self, line: str) -> None:
        """Remove all values from a parser value set: pvs_clear <value set>."""
        [name] = words(line, 1)
        self.standard.bm_parse_vset_clear(CONTEXT, self.program.value_sets.get(name).name)

    def _crc(self, line: str, width: int) -> tuple[str, list[int | bool]]:
        name, *numbers = words(line, 6)
        if self.program.crcs.get(name) != f"crc{width}_custom":
            raise InputError(f"Invalid crc{width}_custom name ({name})")
        return name, [*(_signed(word, width) for word in numbers[:3]), *(_flag(word) for word in numbers[3:])]

    def do_set_crc16_parameters(self, line: str) -> None:
        """Change a hash: set_crc16_parameters <name> <polynomial> <initial> <xor> <reflect in?> <reflect out?>."""
        name, numbers = self._crc(line, 16)
        self.standard.bm_set_crc16_custom_parameters(CONTEXT, name, INTERFACE.Crc16(*numbers))

    def do_set_crc32_parameters(self, line: str) -> None:
        """Change a hash: set_crc32_parameters <name> <polynomial> <initial> <xor> <reflect in?> <reflect out?>."""
        name, numbers = self._crc(line, 32)
        self.standard.bm_set_crc32_custom_parameters(CONTEXT, name, INTERFACE.Crc32(*numbers))

    def _complete_counter(self, text: str, *_: object) -> list[str]:
        return self.program.counters.completions(text)

    def _complete_meter(self, text: str, *_: object) -> list[str]:
        return self.program.meters.completions(text)

    def _complete_register(self, text: str, *_: object) -> list[str]:
        return self.program.registers.completions(text)

    def _complete_value_set(self, text: str, *_: object) -> list[str]:
        return self.program.value_sets.completions(text)

    def _complete_crc(self, text: str, *_: object) -> list[str]:
        return [name for name in sorted(self.program.crcs) if name.startswith(text)]

    complete_counter_read = complete_counter_write = complete_counter_reset = _complete_counter
    complete_meter_array_set_rates = complete_meter_set_rates = complete_meter_get_rates = _complete_meter
    complete_register_read = complete_register_write = complete_register_reset = _complete_register
    complete_pvs_add = complete_pvs_remove = complete_pvs_get = complete_pvs_clear = _complete_value_set
    complete_set_crc16_parameters = complete_set_crc32_parameters = _complete_crc
