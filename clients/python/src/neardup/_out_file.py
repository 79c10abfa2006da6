"""A text as a file that is there only when it is whole, also in place of another one. As src/cli/base/out_file.cpp."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

ACCESS_LIST: Final = "system.posix_acl_access"


def write_file(out: Path, text: str) -> None:
    """Beside it under a temporary name, and renamed at the end. A link stays one. An error leaves what was there."""
    target = out.resolve()
    old = _status(target)
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise ValueError(f"{out} is not a regular file")
    new = target.with_name(f"neardup-{secrets.token_hex(8)}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = open(os.open(new, flags, 0o666 if old is None else 0o600), "w", encoding="utf-8", errors="replace", newline="")
    try:
        if old is not None:
            _keep_rights(file.fileno(), new, target, old)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            file.close()  # Windows removes no open file
        with suppress(OSError):
            os.unlink(new)
        raise


def _status(target: Path) -> os.stat_result | None:
    """None where there is nothing."""
    try:
        return os.lstat(target)
    except FileNotFoundError:
        return None


def _keep_rights(file: int, new: Path, target: Path, old: os.stat_result) -> None:
    """Owner and group of the file that is replaced, as far as the system lets us, and its rights.

    To a group that it is not given to, no rights. With a list of access (ACL), the bits of the group are the most that anyone of the list may
    do, not what the group may: they are not kept, and the list that the new file may have from its folder grants nothing then.
    """
    keeps_group = _give(file, old) and not _has_access_list(target) and not _has_access_list(file)
    mode = old.st_mode & (0o777 if keeps_group else 0o707)
    if os.chmod in os.supports_fd:
        os.chmod(file, mode)
    else:
        os.chmod(new, mode)


def _give(file: int, old: os.stat_result) -> bool:
    """Owner and group, or only the group; whether it has that group. By the descriptor: in a folder of others the name may mean another file by now."""
    for owner in (old.st_uid, -1):
        with suppress(OSError, AttributeError):  # Windows has no os.fchown
            os.fchown(file, owner, old.st_gid)
            return True
    return os.fstat(file).st_gid == old.st_gid


def _has_access_list(file: int | Path) -> bool:
    try:
        return ACCESS_LIST in os.listxattr(file)
    except (OSError, AttributeError):  # a file system or a system without
        return False
