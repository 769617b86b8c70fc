"""Rejected candidates: kept with spec, tree and reason, so that nothing is tried blindly again.

`refs/ecdysis/rejected/<first digits of the spec's digest>` is a chain of commits, newest first;
each holds `spec.json`, `reason.txt` and the candidate's tree as the folder `candidate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.display import printable, scrub
from bot.git.repository import RefMoved, Repository
from bot.lineage.message import PREFIX, parse_message, spec_bytes, spec_digest
from bot.lineage.wording import one_line, write_body, write_subject

if TYPE_CHECKING:
    from bot.records import ModificationSpec

REJECTED_PREFIX = "refs/ecdysis/rejected/"
DIGITS = 16
LONGEST_REASON = 4000
ATTEMPTS = 5


@dataclass(frozen=True)
class RejectedCandidate:
    """The newest rejection of one spec; `base` is the commit that it was tried on, if known."""

    ref: str
    commit: str
    when: int
    base: str
    digest: str
    title: str
    pattern: str
    origin: str
    reason: str
    kind: str = ""  # the class of the rejection, as `record_rejected` was told


def record_rejected(
    repository: Repository,
    *,
    tree: str,
    spec: ModificationSpec,
    reason: str,
    base_commit: str | None = None,
    kind: str = "",
) -> str:
    """Keep a rejected candidate; the ref it is kept under. The same rejection is kept once.

    `kind` says which check refused it: `apply`, `static`, `train` or `hidden`.
    """
    ref = rejected_ref(spec_digest(spec))
    text = scrub(printable(reason, LONGEST_REASON, lines=True))
    kept = repository.make_tree(
        {
            "candidate": ("040000", repository.tree_of(tree)),
            "reason.txt": ("100644", repository.write_blob(f"{text}\n".encode())),
            "spec.json": ("100644", repository.write_blob(spec_bytes(spec))),
        }
    )
    for attempt in range(ATTEMPTS):
        old = repository.refs(ref).get(ref)
        if old and repository.tree_of(old) == kept:
            return ref
        message = _write_message(spec, reason, base_commit, kind)
        new = repository.commit_tree(kept, [old] if old else [], message)
        try:
            repository.update_ref(ref, new, old)
        except RefMoved:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        break
    return ref


def rejected_ref(digest: str) -> str:
    """The ref under which rejections of the spec with this digest are kept."""
    return REJECTED_PREFIX + digest.removeprefix("sha256:")[:DIGITS]


def _write_message(spec: ModificationSpec, reason: str, base_commit: str | None, kind: str) -> str:
    trailers = {
        "Decision": "reject",
        "Rejection": kind,
        "Pattern": spec.pattern,
        "Layer": spec.layer,
        "Origin": spec.origin,
        "Spec": spec_digest(spec),
        "Base": base_commit or "",
    }
    lines = [f"{PREFIX}{name}: {one_line(value)}" for name, value in trailers.items() if value]
    subject = write_subject(f"Rejected: {spec.title}", "Rejected")
    return "\n\n".join([subject, write_body(reason) or "No reason was given.", "\n".join(lines)])


def list_rejected(
    repository: Repository, refs: Mapping[str, str] | None = None
) -> list[RejectedCandidate]:
    """The newest rejection of every rejected spec, in the order of their refs."""
    listed = repository.refs(REJECTED_PREFIX) if refs is None else refs
    refs = {ref: oid for ref, oid in listed.items() if ref.startswith(REJECTED_PREFIX)}
    commits = repository.read_commits(refs.values())
    found = []
    for ref, oid in refs.items():
        if oid in commits:
            message = parse_message(commits[oid].message)
            found.append(
                RejectedCandidate(
                    ref=ref,
                    commit=oid,
                    when=commits[oid].when,
                    base=message.trailers.get("Base", ""),
                    digest=message.trailers.get("Spec", ""),
                    title=message.title.removeprefix("Rejected: "),
                    pattern=message.trailers.get("Pattern", ""),
                    origin=message.trailers.get("Origin", ""),
                    reason=" ".join(message.body.split()),
                    kind=message.trailers.get("Rejection", ""),
                )
            )
    return found


def rejected_spec(repository: Repository, candidate: RejectedCandidate) -> ModificationSpec | None:
    """The spec that was rejected; None where what is stored is not what was digested."""
    from bot.records import ModificationSpec

    content = repository.read_file(candidate.commit, "spec.json")
    try:
        spec = ModificationSpec.model_validate_json(content or b"")
    except ValueError:
        return None
    return spec if spec_digest(spec) == candidate.digest else None
