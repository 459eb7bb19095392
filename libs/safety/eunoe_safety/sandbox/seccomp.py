"""A seccomp filter by hand: no new sockets, no programs, no namespaces, nothing that reaches into other processes.

Classic BPF as in `seccomp(2)` and the kernel's `Documentation/userspace-api/seccomp_filter.rst`; installed through `prctl`, so that
neither libseccomp nor a C compiler is needed. Linux on x86-64 and AArch64.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
NUMBER_OFFSET, ARCH_OFFSET = 0, 4
X32_BIT = 0x40000000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Names for the reader; numbers from the kernel's system call tables (x86-64, AArch64).
DENIED = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "execve": (59, 221),
    "execveat": (322, 281),
}


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def supported() -> bool:
    """Whether this system is one that the filter is written for; the kernel may still refuse it."""
    return sys.platform == "linux" and platform.machine() in ARCHITECTURES


def deny_dangerous_calls() -> bool:
    """Install the filter on the calling thread and all it starts; for good. False where it is not supported or refused."""
    if not supported():
        return False
    machine = platform.machine()
    column = list(ARCHITECTURES).index(machine)
    numbers = sorted(each[column] for each in DENIED.values())
    code = _program(ARCHITECTURES[machine], numbers)
    array = (_Instruction * len(code))(*code)
    program = _Program(len(code), array)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _program(architecture: int, numbers: list[int]) -> list[_Instruction]:
    """Foreign architecture, x32 number or a denied number: EPERM; all else allowed. Jump distances count skipped instructions."""
    head = [
        _Instruction(LOAD_WORD, 0, 0, ARCH_OFFSET),
        _Instruction(JUMP_EQUAL, 0, len(numbers) + 3, architecture),
        _Instruction(LOAD_WORD, 0, 0, NUMBER_OFFSET),
        _Instruction(JUMP_AT_LEAST, len(numbers) + 1, 0, X32_BIT),
    ]
    tests = [_Instruction(JUMP_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    return [*head, *tests, _Instruction(RETURN, 0, 0, ALLOW), _Instruction(RETURN, 0, 0, DENY)]
