"""`ecdysis schema`: the JSON Schema of a record."""

from __future__ import annotations

import json

import click

NAMES = ("episode", "task", "spec", "verdict", "diagnosis")


@click.command("schema")
@click.argument("record", type=click.Choice(NAMES))
def command(record: str) -> None:
    """Print the JSON Schema of RECORD.

    The schema describes what the bot reads and writes; unknown fields are allowed everywhere.
    """
    from bot.records import RECORD_TYPES

    click.echo(json.dumps(RECORD_TYPES[record].model_json_schema(), indent=2))
