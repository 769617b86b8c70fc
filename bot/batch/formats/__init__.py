"""One reader a format: from foreign records to episodes.

To add one, write a module of one of the kinds in `protocols.py` and name it here.
"""

from bot.batch.formats import (
    chat,
    harbor,
    inspect_eval,
    mini_swe_agent,
    native,
    openai_evals,
    otel,
    promptfoo,
    swe_agent,
    tau2_bench,
    tau_bench,
    terminal_bench,
    whowhen,
)
from bot.batch.formats import inspect_ai as inspect
from bot.batch.formats.junit import junit
from bot.batch.formats.protocols import FileReader, GroupReader, ItemsReader, RecordReader

RECORD_READERS: tuple[RecordReader, ...] = (
    native,
    tau_bench,
    whowhen,
    swe_agent,
    mini_swe_agent,
    terminal_bench,
    harbor,
    chat,
)
ITEMS_READERS: tuple[ItemsReader, ...] = (inspect, tau2_bench, promptfoo, terminal_bench.run)
GROUP_READERS: tuple[GroupReader, ...] = (otel, openai_evals)
FILE_READERS: tuple[FileReader, ...] = (inspect_eval, junit)


def format_names() -> list[str]:
    """Every format that is read."""
    kinds = (RECORD_READERS, ITEMS_READERS, GROUP_READERS, FILE_READERS)
    return list(dict.fromkeys(reader.NAME for readers in kinds for reader in readers))
