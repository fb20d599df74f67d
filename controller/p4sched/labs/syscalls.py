"""Filter for the system calls of a submission, in the format of bubblewrap (`--seccomp`).

Limits on memory count only mapped memory of a process. The filter refuses other memory: shared mappings, files in
memory, queues of System V, and namespaces, in which a process could mount more. It also refuses access to other
processes and to the keys of the user. See seccomp(2) and linux/bpf_common.h.
"""

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from p4sched.errors import P4schedError

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Instructions: load a word of the call, compare it, return."""
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16
"""Offsets in `struct seccomp_data`. An argument has 8 bytes, the low word first."""
ALLOWED = 0x7FFF0000
REFUSED = 0x00050000
"""Return value of a refusal, to which the caller's error is added."""
NAMESPACES = 0x7E020000
"""All CLONE_NEW flags of clone(2)."""
SHARED = 0x01
"""MAP_SHARED of mmap(2)."""
SECOND_ABI = 0x40000000
"""First number of the x32 calls on x86-64. ARM has no calls there."""

EVERYWHERE = {
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447,
}  # fmt: skip
"""Calls that have the same number on all machines."""


@dataclass(frozen=True)
class Machine:
    """Numbers of the system calls of a machine."""

    audit: int
    """AUDIT_ARCH of linux/audit.h."""
    mmap: int
    clone: int
    refused: Mapping[str, int]


MACHINES = {
    "x86_64": Machine(
        0xC000003E, 9, 56,
        {
            "shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "pivot_root": 155, "mount": 165, "umount2": 166,
            "io_setup": 206, "mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
            "perf_event_open": 298, "fanotify_init": 300, "setns": 308, "process_vm_readv": 310,
            "process_vm_writev": 311, "kcmp": 312, "memfd_create": 319, "bpf": 321, "userfaultfd": 323,
        },
    ),
    "aarch64": Machine(
        0xC00000B7, 222, 220,
        {
            "io_setup": 0, "umount2": 39, "mount": 40, "pivot_root": 41, "unshare": 97, "ptrace": 117, "mq_open": 180,
            "msgget": 186, "semget": 190, "shmget": 194, "add_key": 217, "request_key": 218, "keyctl": 219,
            "perf_event_open": 241, "fanotify_init": 262, "setns": 268, "process_vm_readv": 270,
            "process_vm_writev": 271, "kcmp": 272, "memfd_create": 279, "bpf": 280, "userfaultfd": 282,
        },
    ),
}  # fmt: skip
CLONE3 = 435


def filter_program() -> bytes:
    """The filter for this machine.

    Raises:
        P4schedError: the machine is unknown.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise P4schedError(
            f"grading in a sandbox works on {' and '.join(MACHINES)}; this machine is {platform.machine()}. "
            "--trusted grades without a sandbox"
        )
    refused = sorted({*machine.refused.values(), *EVERYWHERE.values()})
    program = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, machine.audit), _refuse(errno.EPERM), (LOAD, 0, 0, NUMBER)]
    for test, number in ((AT_LEAST, SECOND_ABI), *((EQUAL, one) for one in refused)):
        program += [(test, 0, 1, number), _refuse(errno.EPERM)]
    # The flags of clone3 are in memory, which a filter cannot read. The C library then uses clone.
    program += [(EQUAL, 0, 1, CLONE3), _refuse(errno.ENOSYS)]
    for call, argument, bits in ((machine.clone, 0, NAMESPACES), (machine.mmap, 3, SHARED)):
        program += [(EQUAL, 0, 4, call), (LOAD, 0, 0, ARGUMENTS + 8 * argument), (ANY_BIT, 0, 1, bits)]
        program += [_refuse(errno.EPERM), (RETURN, 0, 0, ALLOWED)]
    program.append((RETURN, 0, 0, ALLOWED))
    return b"".join(struct.pack("=HBBI", *one) for one in program)


def _refuse(error: int) -> tuple[int, int, int, int]:
    return RETURN, 0, 0, REFUSED | error
