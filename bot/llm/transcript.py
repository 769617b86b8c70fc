"""The record of every call to a model: it makes a killed run go on, and a generation rebuildable.

One JSON object per line, appended and flushed as a call ends. Nothing in it is a key.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.display import scrub
from bot.errors import InputError, RepositoryError
from bot.llm.answers import Ask, Failed, Kind, Said, T, Turn, ask_until_valid, well_formed
from bot.llm.canonical import request_digest
from bot.records import Usage

# What may be otherwise next time: it is asked again by a run that goes on.
PASSING = frozenset({"budget", "timeout", "unreachable", "rejected"})


class CallRecord(BaseModel):
    """One call: what was asked, what came back, what it cost.

    `digest` is of question, schema and model; `turns` also have the complaint of an earlier answer,
    where that is asked again. `outcome` is `answered` or a kind of Failed;
    `failed` is True where the call itself failed, before its text was read.
    """

    model_config = ConfigDict(frozen=True)

    label: str
    digest: str
    model: str
    settings: dict[str, Any] = Field(default_factory=dict)
    turns: list[Turn]
    answer: str
    finish: str | None = None
    outcome: Kind | str
    reason: str = ""
    failed: bool = False
    usage: Usage = Usage()
    seconds: float = 0.0

    def said(self) -> Said:
        kind: Any = self.outcome
        failed = Failed(kind, self.reason) if self.failed else None
        return Said(self.answer, self.finish, failed)


def question_digest(model: str, turns: Sequence[Turn], answer: type[BaseModel]) -> str:
    """The digest of a question, without secrets in it; of one that is asked again, the same."""
    messages = [[turn.role, turn.content] for turn in scrubbed(turns)]
    schema = answer.model_json_schema()
    return request_digest({"model": model, "messages": messages, "schema": schema})


def scrubbed(turns: Sequence[Turn]) -> list[Turn]:
    """`turns` as they may be sent and kept: without secrets, and without halves of characters."""
    return [Turn(turn.role, scrub(well_formed(turn.content))) for turn in turns]


class Transcript:
    """The calls of one run, in memory and, if it has a file, on disk; a context manager.

    Of two calls with one label the later counts.
    """

    def __init__(self, records: Sequence[CallRecord] = (), file: int | None = None) -> None:
        self.records = list(records)
        self._by_label = {record.label: record for record in records}
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Transcript:
        """The transcript at `path`, to be continued; a last line that was torn is dropped.

        Raises InputError on a damaged file, RepositoryError where it cannot be written, or
        another run writes it.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise _unwritable(error) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raw = path.read_bytes()
            whole = raw[: raw.rfind(b"\n") + 1]
            transcript = cls(_parse(whole.decode("utf-8", "replace"), str(path)), file)
            os.ftruncate(file, len(whole))
        except BlockingIOError:
            os.close(file)
            raise RepositoryError(
                f"Another run writes the transcript {path}.", "Wait until it has ended."
            ) from None
        except BaseException:
            os.close(file)
            raise
        return transcript

    @classmethod
    def from_text(cls, text: str, where: str = "the transcript") -> Transcript:
        """A transcript that was kept elsewhere, in memory. Raises InputError on a damaged one."""
        return cls(_parse(text, where))

    def to_text(self) -> str:
        return "".join(record.model_dump_json() + "\n" for record in self.records)

    def append(self, record: CallRecord) -> None:
        """Keep `record`; it is on disk, whole or not at all, when this returns.

        Raises RepositoryError where it cannot be written.
        """
        self.records.append(record)
        self._by_label[record.label] = record
        if self._file is None:
            return
        line = (record.model_dump_json() + "\n").encode()
        before = os.fstat(self._file).st_size
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            os.ftruncate(self._file, before)
            raise _unwritable(error) from None

    def find(
        self, label: str, turns: Sequence[Turn], answer: type[BaseModel], model: str | None
    ) -> CallRecord | None:
        """The call of this label, if it asked the same; `model` None takes the record's own."""
        record = self._by_label.get(label)
        if record is None:
            return None
        same = question_digest(model or record.model, turns, answer) == record.digest
        return record if same else None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Transcript:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _unwritable(error: OSError) -> RepositoryError:
    return RepositoryError(
        f"The transcript cannot be written: {error.strerror or error}.",
        "Make room, or correct the folder's rights; calls that were kept are not made again.",
    )


def _parse(text: str, where: str) -> list[CallRecord]:
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            records.append(CallRecord.model_validate_json(line))
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]["msg"]
            raise InputError(
                f"{where}, line {number}, is no record of a call: {fault}.",
                "Delete the file to ask everything again.",
            ) from None
    return records


@runtime_checkable
class Caller(Protocol):
    """An Ask whose single calls can be made one by one, each recorded: the client."""

    async def call(
        self,
        label: str,
        turns: Sequence[Turn],
        answer: type[BaseModel],
        complaint: Sequence[Turn],
    ) -> Said: ...

    def model(self, label: str) -> str: ...


def replaying(transcript: Transcript, ask: Ask | None) -> Ask:
    """Answers from the record where it has the same question; calls `ask` only beyond it.

    What failed for a passing reason (a cap, the network) is asked again. Without `ask` nothing
    is: the record's failures stand, and a call that it does not have is Failed("unreachable").
    An `ask` that is no client (a script) is recorded here, under the model's name "scripted".
    """

    async def answered(label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        async def call(
            step: str,
            turns: Sequence[Turn],
            answer: type[BaseModel],
            complaint: Sequence[Turn],
        ) -> Said | None:
            model = ask.model(step) if isinstance(ask, Caller) else SCRIPT if ask else None
            record = transcript.find(step, turns, answer, model)
            if record is not None and (ask is None or record.outcome not in PASSING):
                return record.said()
            if isinstance(ask, Caller):
                return await ask.call(step, turns, answer, complaint)
            if ask is None or step != label:  # a script has mended its answers itself
                return None
            return _keep(transcript, step, turns, answer, await ask(step, turns, answer))

        return await ask_until_valid(label, turns, answer, call)

    return answered


SCRIPT = "scripted"


def _keep(
    transcript: Transcript,
    label: str,
    turns: Sequence[Turn],
    answer: type[BaseModel],
    result: BaseModel | Failed,
) -> Said:
    """Record what somebody else than the client answered."""
    failed = result if isinstance(result, Failed) else None
    asked = scrubbed(turns)
    record = CallRecord(
        label=label,
        digest=question_digest(SCRIPT, turns, answer),
        model=SCRIPT,
        turns=asked,
        answer="" if isinstance(result, Failed) else scrub(result.model_dump_json()),
        finish="stop",
        outcome=failed.kind if failed else "answered",
        reason=scrub(failed.reason) if failed else "",
        failed=failed is not None,
    )
    transcript.append(record)
    return record.said()
