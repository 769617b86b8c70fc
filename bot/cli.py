"""The `ecdysis` command: gathers the commands, and handles every error in one place."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from bot import __version__
from bot.errors import EcdysisError

COMMANDS = {
    "demo": "Watch a real model fail, and its harness get repaired. No key needed.",
    "init": "Add the [tool.ecdysis] table here, or copy the starter harness.",
    "doctor": "Check repository, table, splits, seams and endpoint before spending anything.",
    "run": "Run and score a harness revision on a split.",
    "diagnose": "Say what keeps going wrong in a batch of trajectories.",
    "ingest": "Rewrite trajectories of any known format as native JSONL.",
    "evolve": "Make a generation: diagnose, edit, prove on hidden tasks, commit.",
    "propose": "Draft repairs from trajectories alone, where the harness cannot be run.",
    "gate": "Decide whether one harness revision is better than another.",
    "log": "List the generations, newest first.",
    "show": "Show one generation: its diagnosis, its figures, its diff.",
    "pr": "Push a generation, and open or update its pull request.",
    "report": "Write a page, Markdown, JSON or CSV about all generations.",
    "diff": "Compare two generations: their repairs by structure, and the text.",
    "rebuild": "Make a generation's trees again from what is recorded, and compare.",
    "watchlist": "Show what waits for more evidence, and what would promote it.",
    "fetch": "Get generations and notes from a remote into a clone.",
    "apply": "Apply a modification spec as a syntax-tree edit.",
    "rebase": "Move a generation onto another revision, by structure.",
    "revert": "Take one repair out of a generation; the rest is proven again.",
    "pick": "Apply a generation's repairs to another harness, by their specs.",
    "prune": "Remove old evidence; never an accepted commit.",
    "model": "Fetch, serve and stop the embedded model.",
    "schema": "Print the JSON Schema of a record.",
    "completion": "Print the script that completes commands in bash, zsh or fish.",
}
"""Command → one line of help. Modules are imported when their command runs: `--help` is fast."""


class PipeClosed(Exception):
    """The reader of standard output left; click makes exit code 1 of a BrokenPipeError."""


class LazyGroup(click.Group):
    """Imports `bot.commands.NAME` only when NAME is called."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise PipeClosed from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bot.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if not near or "Did you mean" in error.message:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{near[0]}'?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `ecdysis demo`, or with `ecdysis init` in your harness's repository.",
)
@click.version_option(__version__, prog_name="ecdysis")
def cli() -> None:
    """Make an LLM agent's harness better by itself, in git.

    Runs a batch of tasks, says what keeps going wrong across them and whether the harness or
    the model is to blame, repairs the harness by syntax-tree edits, proves each repair on hidden
    tasks, and commits it with the diagnosis as its message.
    """


def main(args: list[str] | None = None) -> int:
    """Run the command line; the return value is the exit code (the README lists them)."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe with a narrow encoding must not turn a result into a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        result: Any = cli.main(args=args, prog_name="ecdysis", standalone_mode=False)
        sys.stdout.flush()
    except EcdysisError as error:
        _tell(str(error))
        return error.exit_code
    except click.exceptions.Abort:
        _tell("Interrupted; what was already written is kept.")
        return 130
    except KeyboardInterrupt:
        _tell("Interrupted; what was already written is kept.")
        return 130
    except click.UsageError as error:
        error.show(sys.stderr)
        return 2
    except click.ClickException as error:
        _tell(error.format_message())
        return error.exit_code
    except (BrokenPipeError, PipeClosed):
        # The reader of a pipe left; Python's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        return _report_bug()
    return result if isinstance(result, int) else 0


def _tell(message: str) -> None:
    from bot.display import printable, scrub

    print(f"ecdysis: {scrub(printable(message, lines=True))}", file=sys.stderr)


def _report_bug() -> int:
    import tempfile
    import traceback

    from bot.display import scrub

    with tempfile.NamedTemporaryFile(
        "w", prefix="ecdysis-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write(f"ecdysis-bot {__version__}, Python {sys.version}\n\n")
        log.write(scrub(traceback.format_exc()))
    _tell(f"this is a bug; nothing was half-written. Please report it with the log {log.name}")
    return 70


def run() -> None:
    """Entry point of the console script."""
    sys.exit(main())
