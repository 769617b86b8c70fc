"""What of the machine every sandboxed process may read: programs, libraries, a few settings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu")
SETTINGS = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts"),
    *("group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias"),
    *("locale.conf", "localtime", "mime.types", "nsswitch.conf", "passwd"),
    *("pki/ca-trust", "pki/tls/certs", "protocols", "resolv.conf", "services", "ssl/certs"),
    *("ssl/openssl.cnf", "terminfo", "timezone"),
)


@cache
def system_paths() -> tuple[Path, ...]:
    """Folders and files of the system that exist here. No user's files, no secrets of root's."""
    places = [Path(name) for name in PROGRAMS] + [Path("/etc") / name for name in SETTINGS]
    # Names of the distribution; where they are hidden rather than missing, pip fails.
    places += sorted([*Path("/etc").glob("*release"), *Path("/etc").glob("*_version")])
    return tuple(place for place in places if place.exists())


@cache
def interpreter_paths(python: Path) -> tuple[Path, ...]:
    """What an interpreter consists of, wherever it lies: its environment, its home, each link.

    Only `bin` and `lib` of a prefix count: the prefix itself may be a user's home.
    """
    found: dict[Path, None] = {}
    for prefix in _prefixes(python):
        if (prefix / "pyvenv.cfg").is_file():
            found[prefix] = None
            continue
        for part in ("bin", "lib", "lib64", "share"):
            if (prefix / part).is_dir() and not (part == "share" and prefix == Path.home()):
                found[prefix / part] = None
    return tuple(place for place in found if not _is_inside(place, system_paths()))


def own_interpreter() -> Path:
    """The interpreter that runs the bot, without its environment: it has the standard library."""
    return Path(getattr(sys, "_base_executable", sys.executable))


def _prefixes(python: Path) -> Iterator[Path]:
    """The prefix of the interpreter, of each file that it links to, and of its `home`."""
    while True:
        prefix = python.parent.parent
        yield prefix
        yield prefix.resolve()
        settings = prefix / "pyvenv.cfg"
        if settings.is_file():
            for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
                name, _, value = line.partition("=")
                if name.strip() == "home":
                    yield Path(value.strip()).parent
                    yield Path(value.strip()).parent.resolve()
        if not python.is_symlink():
            return
        python = python.parent / python.readlink()


def _is_inside(place: Path, others: Iterable[Path]) -> bool:
    return any(place.is_relative_to(other) for other in others)
