"""Which environment a git child process gets.

Inside a hook, an alias or a CI step git leaves `GIT_DIR`, `GIT_INDEX_FILE` and more in the
environment; a child that inherits them works on another repository or index. Only variables
about transport, credentials and the user's configuration are passed on.
"""

from __future__ import annotations

from collections.abc import Mapping

KEPT = frozenset(
    {
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_ASKPASS",
        "GIT_TERMINAL_PROMPT",
        "GIT_ALLOW_PROTOCOL",
        "GIT_PROTOCOL_FROM_USER",
        "GIT_PROXY_COMMAND",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_COUNT",
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)
KEPT_PREFIXES = ("GIT_SSL_", "GIT_HTTP_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")

ALWAYS = {
    "GIT_OPTIONAL_LOCKS": "0",  # looking must not rewrite the user's index
    "GIT_LITERAL_PATHSPECS": "1",  # a file named `*` is one file
    "LANGUAGE": "en",  # some answers are told apart by git's words; there is no such catalogue
}

OPTIONS = (
    "--no-pager",
    # The user's hooks are for the user's commits; plumbing would still run some of them.
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    # A private index must not leave shared index files in the repository.
    *("-c", "core.splitIndex=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "core.safecrlf=false"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "i18n.commitEncoding=UTF-8"),
    *("-c", "log.showSignature=false"),
    *("-c", "advice.graftFileDeprecated=false"),
)


def stripped_names(environ: Mapping[str, str]) -> list[str]:
    """The variables of `environ` that a git child must not see, sorted."""
    return sorted(
        name
        for name in environ
        if name.startswith("GIT_") and name not in KEPT and not name.startswith(KEPT_PREFIXES)
    )


def command_line(
    arguments: tuple[str, ...], settings: Mapping[str, str], environ: Mapping[str, str]
) -> list[str]:
    """The argument list of one git child.

    GitPython lays its settings over a copy of this process's environment and cannot leave a
    variable out. Changing `os.environ` would race with other threads, so where there is
    something to leave out the child is started through env(1).
    """
    names = [name for name in stripped_names(environ) if name not in settings]
    prefix = ["env", *(part for name in names for part in ("-u", name))] if names else []
    return [*prefix, "git", *OPTIONS, *arguments]
