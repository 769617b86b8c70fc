"""`ecdysis doctor`: would a run work here? Says so before anything is spent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from bot.commands.options import json_option, repo_option
from bot.display import count, printable, scrub

MARKS = {"ok": "ok  ", "warning": "note", "stop": "STOP"}


@click.command("doctor")
@repo_option
@click.option("--rev", default="HEAD", show_default=True, help="Check this revision.")
@json_option
def command(repo: Path, rev: str, as_json: bool) -> int:
    """Check git, repository, table, splits, seams, model, isolation and disk.

    No model is called and no harness code runs. The exit code is 0, or that of the first thing
    that would stop a run: 3 the table or the splits, 4 the repository, 5 the model endpoint.
    """
    from bot.commands.checks import check_all

    findings = check_all(repo, rev)
    stops = [finding for finding in findings if finding.status == "stop"]
    if as_json:
        checks = [asdict(finding) for finding in findings]
        click.echo(json.dumps({"format_version": 1, "ok": not stops, "checks": checks}))
    else:
        for finding in findings:
            text = scrub(printable(finding.text))
            click.echo(f"{MARKS[finding.status]}  {finding.name}: {text}")
            if finding.remedy:
                click.echo(f"      {scrub(printable(finding.remedy))}")
        click.echo(
            f"{count(len(stops), 'thing')} would stop a run."
            if stops
            else "Nothing would stop a run."
        )
    return stops[0].exit_code if stops else 0
