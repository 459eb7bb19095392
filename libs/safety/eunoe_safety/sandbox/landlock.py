"""Landlock (`landlock(7)`): a worker may read, but write only below its private folder. Linux 5.13 and newer, without privileges."""

from __future__ import annotations

import ctypes
import os
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
RULE_PATH_BENEATH, GET_VERSION = 1, 1
WRITE_FILE, TRUNCATE, REFER = 1 << 1, 1 << 14, 1 << 13
CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))  # remove_dir .. make_sym
TRUNCATE_SINCE, REFER_SINCE = 3, 2


def write_only_below(folder: str) -> bool:
    """Forbid the calling thread, for good, to write or change anything outside `folder` and /dev/null; needs no_new_privs.

    False where the kernel does not offer it. A folder that does not exist is simply no exception.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), GET_VERSION)
    if version < 1:
        return False
    rights = WRITE_FILE | CHANGE_FOLDER | (REFER if version >= REFER_SINCE else 0) | (TRUNCATE if version >= TRUNCATE_SINCE else 0)
    attributes = struct.pack("=Q", rights)
    ruleset = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        _allow(libc, ruleset, folder, rights)
        _allow(libc, ruleset, os.devnull, rights & (WRITE_FILE | TRUNCATE))
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = struct.pack("=Qi", rights, handle)
        libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(handle)
