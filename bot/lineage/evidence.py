"""Notes of `refs/notes/ecdysis`: what a commit message is too small for.

The note of a repair is one JSON object with its spec (so that it can be applied again), its
pattern with all evidence, and the verdict. `git log --notes=ecdysis` shows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.display import printable, scrub
from bot.git.repository import Repository
from bot.lineage.message import GenerationFigures, RepairMessage, spec_digest

if TYPE_CHECKING:
    from bot.records import ModificationSpec, Pattern

NOTES_REF = "refs/notes/ecdysis"
TRANSCRIPTS_REF = "refs/notes/ecdysis-transcript"
"""What the panel behind a repair said: every call, as JSON Lines. It is pushed only on request."""
DRAFT = "unverified draft"
"""What stands at a repair that no harness was run with."""
LONGEST_QUOTE = 2000
EVIDENCE_KEPT = 200


def add_notes(
    repository: Repository, notes: Mapping[str, bytes], ref: str = NOTES_REF
) -> tuple[str, str, str | None]:
    """Write a note for each commit; the ref change (name, new, old) that makes them visible.

    The caller puts the change into its own transaction.
    """
    old = repository.refs(ref).get(ref)
    entries = {
        f"{commit[:2]}/{commit[2:]}": ("100644", repository.write_blob(note))
        for commit, note in notes.items()
    }
    tree = repository.graft(old, entries)
    new = repository.commit_tree(tree, [old] if old else [], "Notes added by the Ecdysis bot")
    return ref, new, old


def write_note(message: RepairMessage, figures: GenerationFigures) -> bytes:
    """The note as indented JSON; quotes are capped and scrubbed, the spec is kept as it is."""
    pattern = message.pattern.model_dump(mode="json")
    pattern["evidence"] = [harmless(item) for item in pattern["evidence"][:EVIDENCE_KEPT]]
    body = {
        "format_version": 1,
        "spec_digest": spec_digest(message.spec),
        "spec": message.spec.model_dump(mode="json"),
        "pattern": pattern,
        "verdict": harmless(figures.verdict.model_dump(mode="json")),
    }
    return note_bytes(body)


def note_bytes(body: Mapping[str, Any]) -> bytes:
    """A note as it is stored."""
    return (json.dumps(body, indent=1, ensure_ascii=True) + "\n").encode()


def move_note(note: Mapping[str, Any], spec: ModificationSpec, commit: str) -> bytes:
    """The note of a repair that was moved to another base, from that of its `commit`.

    The verdict was about the old base and is left out.
    """
    body = {
        "format_version": 1,
        "spec_digest": spec_digest(spec),
        "spec": spec.model_dump(mode="json"),
        "pattern": note.get("pattern"),
        "rebased_from": commit,
    }
    return note_bytes(body)


def draft_note(spec: ModificationSpec, pattern: Pattern) -> bytes:
    """The note of a repair that was drafted from trajectories alone: nothing was run."""
    evidence = pattern.model_dump(mode="json")
    evidence["evidence"] = [harmless(item) for item in evidence["evidence"][:EVIDENCE_KEPT]]
    body = {
        "format_version": 1,
        "spec_digest": spec_digest(spec),
        "spec": spec.model_dump(mode="json"),
        "pattern": evidence,
        "verification": DRAFT,
    }
    return note_bytes(body)


def harmless(value: Any) -> Any:
    """`value` with every text in it scrubbed, printable and capped."""
    if isinstance(value, str):
        return scrub(printable(value, LONGEST_QUOTE, lines=True))
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        return {str(key): harmless(item) for key, item in value.items()}
    return value


def read_transcript(repository: Repository, commit: str) -> str | None:
    """What the panel behind a repair said, as JSON Lines; None where this clone has none."""
    tip = repository.refs(TRANSCRIPTS_REF).get(TRANSCRIPTS_REF)
    if tip is None:
        return None
    content = repository.read_file(tip, f"{commit[:2]}/{commit[2:]}")
    return None if content is None else content.decode("utf-8", "replace")


def read_notes(repository: Repository) -> dict[str, dict[str, Any]]:
    """Commit → note, for every note that is readable JSON; empty where the ref is missing."""
    tip = repository.refs(NOTES_REF).get(NOTES_REF)
    if tip is None:
        return {}
    notes = {}
    for path, content in repository.read_files(tip).items():
        try:
            note = json.loads(content)
        except ValueError:
            continue
        if isinstance(note, dict):
            notes[path.replace("/", "")] = note
    return notes


def read_note(repository: Repository, commit: str) -> dict[str, Any] | None:
    """The note of one commit; None where there is none."""
    tip = repository.refs(NOTES_REF).get(NOTES_REF)
    if tip is None:
        return None
    # Git itself spreads notes over more folders as they grow.
    for path in (f"{commit[:2]}/{commit[2:]}", commit, f"{commit[:2]}/{commit[2:4]}/{commit[4:]}"):
        content = repository.read_file(tip, path)
        if content is not None:
            try:
                note = json.loads(content)
            except ValueError:
                return None
            return note if isinstance(note, dict) else None
    return None


def stored_spec(note: Mapping[str, Any]) -> ModificationSpec | None:
    """The spec in a note, if it is one and its digest is the one that was recorded."""
    from bot.records import ModificationSpec

    try:
        spec = ModificationSpec.model_validate(note.get("spec"))
    except ValueError:
        return None
    return spec if spec_digest(spec) == note.get("spec_digest") else None
