"""Files of a work tree, written all or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.errors import InputError


def write_all(root: Path, files: Mapping[str, bytes]) -> None:
    """Replace the files. New contents are written beside the old ones first, then moved in place.

    Raises InputError, with everything as it was, where one cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    kept: list[tuple[Path, bytes]] = []
    try:
        for path, content in files.items():
            target = root / path
            descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            staged.append((Path(name), target))
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(name).chmod(target.stat().st_mode)
        for temporary, target in staged:
            old = target.read_bytes()
            temporary.replace(target)
            kept.append((target, old))
    except OSError as error:
        for target, old in kept:
            target.write_bytes(old)
        raise InputError(
            f"{error.filename} cannot be written: {error.strerror}.", "Nothing was changed."
        ) from None
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
