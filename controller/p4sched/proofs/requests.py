"""What ingress asks of the switch behind it: clones, digests, and a second pass from the parser on.

The switch makes them when ingress ends, also for a packet that is dropped (simple_switch's `ingress_thread`). The last
request of a kind is the one that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from p4sched.proofs.exact import Int, Truth, choose, every, implies
from p4sched.proofs.paths import State
from p4sched.proofs.program import Element, Json, Program, UnmodelledError

CLONED, SESSION, KEPT = CLONE = ("$cloned$", "$session$", "$kept$")
"""1 if ingress asked for a clone; the session of the last request, and the number of the list of fields to keep."""
RESUBMITTED, DIGEST = ("$resubmitted$", "$digest$")
"""Number of the list of fields that the packet keeps, or of the digest's content; 0 if ingress did not ask for it."""
REQUESTS = (*CLONE, RESUBMITTED, DIGEST)
AGAIN = 6
"""`instance_type` of a packet that was resubmitted."""
KEPT_BY_THE_SWITCH = tuple(
    f"standard_metadata.{name}"
    for name in (
        "ingress_port",
        "packet_length",
        "ingress_global_timestamp",
        "instance_type",
        "checksum_error",
        "parser_error",
    )
)
"""Fields that the switch sets itself before the parser, or after it."""


def value_of(program: Program, state: State, element: Element) -> Int:
    """Value of a part of a list."""
    if isinstance(element, int):
        return Int.of(element)
    if element not in program.fields:
        raise UnmodelledError(f"{program.name}: '{element}' in a list of fields is not modelled")
    value: Int = state[element]
    return value


def kept_again(program: Program) -> tuple[Element, ...]:
    """The fields that a resubmitted packet keeps. Raises UnmodelledError if there are two lists of them."""
    numbers = {
        int(argument["value"], 16)
        for action in program.actions.values()
        for one in action["primitives"]
        if one["op"] == "resubmit"
        for argument in one["parameters"]
        if argument["type"] == "hexstr"
    }
    lists = {program.field_lists.get(number, ()) for number in numbers} - {()}
    if len(lists) > 1:
        raise UnmodelledError(f"{program.name}: resubmission with two lists of fields is not modelled")
    return next(iter(lists), ())


def of_second_pass(program: Program, state: State, kept: Sequence[Int]) -> State:
    """The fields before the parser. A resubmitted packet has kept some of them. `kept`: their values."""
    is_again = state["standard_metadata.instance_type"].equals(AGAIN)
    return {
        name: choose(is_again, value.lowest(program.fields[name]), 0)
        for name, value in zip(kept_again(program), kept, strict=True)
        if isinstance(name, str) and name not in KEPT_BY_THE_SWITCH
    }


def asked(program: Program, state: State, one: Json, values: Sequence[Int]) -> State:
    """What changes if ingress executes one of these primitives. `values`: its parameters."""
    match one["op"]:
        case "clone_ingress_pkt_to_egress":
            _known(program, program.field_lists, values[1])
            return {CLONED: Int.of(1), SESSION: values[0].lowest(SESSION_BITS), KEPT: values[1]}
        case "resubmit":
            _known(program, program.field_lists, values[0])
            return {RESUBMITTED: values[0]}
        case _:
            _known(program, program.digests, values[1])
            return {DIGEST: values[1]}


SESSION_BITS = 32
OPERATIONS = ("clone_ingress_pkt_to_egress", "resubmit", "generate_digest")


def _known(program: Program, lists: Mapping[int, object], number: Int) -> None:
    if not number.is_number or (number.low != 0 and number.low not in lists):
        raise UnmodelledError(f"{program.name}: a list of fields that varies is not modelled")


Side = tuple[Program, State]


def same_clone(one: Side, two: Side) -> Truth:
    """Both ask for a clone of the same session, or none does. It keeps the same values, in their order."""
    is_cloned = one[1][CLONED].equals(1)
    return every(
        one[1][CLONED].equals(two[1][CLONED]),
        implies(is_cloned, one[1][SESSION].equals(two[1][SESSION])),
        implies(is_cloned, _same_values(one, two, KEPT)),
    )


def is_resubmitted(state: State) -> Truth:
    """True if the packet comes again, and does not leave."""
    found: Int = state[RESUBMITTED]
    return found.differs(0)


def same_resubmission(one: Side, two: Side) -> Truth:
    """Both resubmit the packet, or none does. It keeps the same values."""
    again, other = is_resubmitted(one[1]), is_resubmitted(two[1])
    return every(_same(again, other), implies(again, _same_values(one, two, RESUBMITTED)))


def same_digest(one: Side, two: Side) -> Truth:
    """Both send a digest of the same name and content, or none does."""
    sent, other = one[1][DIGEST].differs(0), two[1][DIGEST].differs(0)
    facts = [_same(sent, other)]
    for (number, (name, parts)), (place, (theirs, others)) in product(one[0].digests.items(), two[0].digests.items()):
        chosen = every(one[1][DIGEST].equals(number), two[1][DIGEST].equals(place))
        is_same = NUMBERED.sub("", name) == NUMBERED.sub("", theirs)
        facts.append(implies(chosen, every(is_same, _equal(one, two, parts, others))))
    return every(*facts)


NUMBERED = re.compile(r"^(tuple|digest)_\d+$")
"""Names that compilers give to digests of tuples, which have no name of their own."""


def _same(one: Truth, other: Truth) -> Truth:
    return every(implies(one, other), implies(other, one))


def _same_values(one: Side, two: Side, which: str) -> Truth:
    """Both lists have the same values, in their order: compilers may name fields differently."""
    facts = [
        implies(every(one[1][which].equals(number), two[1][which].equals(place)), _equal(one, two, parts, others))
        for (number, parts), (place, others) in product(_lists(one), _lists(two))
    ]
    return every(*facts)


def _lists(side: Side) -> Iterator[tuple[int, tuple[Element, ...]]]:
    """Lists of fields. List 0 is empty."""
    yield from {0: (), **side[0].field_lists}.items()


def _equal(one: Side, two: Side, parts: Sequence[Element], others: Sequence[Element]) -> Truth:
    if len(parts) != len(others):
        return False
    pairs = zip(parts, others, strict=True)
    return every(*(value_of(*one, left).equals(value_of(*two, right)) for left, right in pairs))
