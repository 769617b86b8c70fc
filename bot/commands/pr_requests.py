"""What `ecdysis pr` does about requests on its pull request: repairs taken out, answers given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.display import count

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation
    from bot.publish.facts import GenerationFacts
    from bot.publish.requests import Request


DROPPED = "Dropped"
"""The trailer that names the comments because of which repairs were taken out."""
GONE = (
    "The figures were measured with it and are gone; `/ecdysis retry` asks for new ones. The "
    "repairs are numbered anew."
)


@dataclass(frozen=True)
class Rebuilt:
    """A generation without some of its repairs; `refusal` says why it is still the old one."""

    generation: Generation
    refusal: str = ""


def open_drops(requests: Sequence[Request], generation: Generation) -> list[Request]:
    """The requests to take a repair out that it is possible to do, and that are not done yet.

    A run that was killed before it answered has done them: the commits name their sources, and
    the numbers now mean other repairs.
    """
    there, done = range(1, len(generation.repairs) + 1), done_drops(generation)
    drops = (request for request in requests if request.kind == "drop")
    return [drop for drop in drops if drop.number in there and drop.source not in done]


def done_drops(generation: Generation) -> set[str]:
    """The sources of what was taken out of a generation."""
    named = (repair.message.trailers.get(DROPPED, "") for repair in generation.repairs)
    return {source.strip() for names in named for source in names.split(",") if source.strip()}


def drop_repairs(
    repository: Repository, generation: Generation, drops: Sequence[Request]
) -> Rebuilt:
    """The generation without these repairs, the others applied again to its base.

    Its number, branch and ref stay. Figures are left out: they were measured with what is gone.
    """
    from bot.commands.apply import edit_rules, reapply_on
    from bot.edit.refusal import Refusal
    from bot.lineage.evidence import add_notes, move_note, read_note, stored_spec
    from bot.lineage.generations import GENERATION_PREFIX, find_generation
    from bot.lineage.message import write_moved_message

    numbers = {drop.number for drop in drops}
    sources = ", ".join(sorted(done_drops(generation) | {drop.source for drop in drops}))
    if len(numbers) == len(generation.repairs):
        return Rebuilt(generation, "Nothing would be left. To reject it all, close this.")
    if generation.base is None:
        return Rebuilt(generation, "The clone is shallow and does not hold the generation's base.")
    base = tip = generation.base
    tree = repository.tree_of(base)
    rules = edit_rules(repository, base)
    notes: dict[str, bytes] = {}
    parents = [base, *generation.commits]
    for number, (repair, parent) in enumerate(zip(generation.repairs, parents, strict=False), 1):
        if number in numbers:
            continue
        note = read_note(repository, repair.commit) or {}
        spec = stored_spec(note)
        if spec is None:
            return Rebuilt(generation, f"The spec of repair {number} is not in this clone.")
        result = reapply_on(repository, spec, parent, tree, rules)
        if isinstance(result, Refusal):
            said = f"Repair {number} does not stand without it: {result.message}"
            return Rebuilt(generation, said)
        if not result.applied.files:
            continue
        tree = repository.write_tree(tree, dict(result.applied.files))
        more = {
            "Rebased-From": repair.commit,
            "Generation": str(generation.number),
            DROPPED: sources,
        }
        message = write_moved_message(repair.message, result.spec, more)
        tip = repository.commit_tree(tree, [tip], message)
        notes[tip] = move_note(note, result.spec, repair.commit)
    if tip == base:
        return Rebuilt(generation, "Nothing would be left. To reject it all, close this.")
    branch = f"refs/heads/{generation.branch}"
    own = f"{GENERATION_PREFIX}{generation.number:04d}"
    refs = {**repository.refs(branch), **repository.refs(own)}
    changes: list[tuple[str, str, str | None]] = [
        (ref, tip, refs.get(ref)) for ref in (branch, own) if refs.get(ref) != tip
    ]
    if refs.get(branch, generation.commit) != generation.commit:
        return Rebuilt(generation, f"{generation.branch} holds commits of others in this clone.")
    repository.update_refs([*changes, add_notes(repository, notes)])
    return Rebuilt(find_generation(repository, str(generation.number)))


def record_dropped(
    repository: Repository, generation: Generation, drops: Sequence[Request], pull: int
) -> None:
    """Keep each repair that was taken out as rejected, with the words of who asked for it."""
    for drop in drops:
        words = f" {drop.words}" if drop.words else ""
        reason = f"Taken out of pull request {pull} by {drop.author}.{words}"
        reject(repository, generation, drop.number or 0, reason)


def reject(repository: Repository, generation: Generation, number: int, reason: str) -> bool:
    """Keep one repair as rejected. False: its spec is not in this clone."""
    from bot.lineage.evidence import read_note, stored_spec
    from bot.lineage.rejected import record_rejected

    repair = generation.repairs[number - 1]
    spec = stored_spec(read_note(repository, repair.commit) or {})
    if spec is None:
        return False
    tree = repository.tree_of(repair.commit)
    record_rejected(
        repository, tree=tree, spec=spec, reason=reason, base_commit=generation.base, kind="review"
    )
    return True


def write_answers(
    requests: Sequence[Request],
    seen: Generation,
    gather: Callable[[], GenerationFacts],
    *,
    done: set[str],
    refusal: str,
) -> dict[str, str]:
    """Source → the text of the one comment that answers all of it.

    `seen` is the generation as the requests saw it, `gather` gives its facts, which takes a while;
    `done` are the sources of drops that an earlier run did, `refusal` is why this one did none.
    """
    from bot.publish.body import write_explanation

    facts = gather() if any(request.kind == "explain" for request in requests) else None
    answers: dict[str, list[str]] = {}
    for request in requests:
        titles = [repair.message.title for repair in seen.repairs]
        if request.kind == "drop" and request.source in done:
            said = f"It is taken out and recorded as rejected. {GONE}"
        elif facts is not None and request.kind == "explain" and _is_one(request, titles):
            said = write_explanation(facts, request.number or 1)
        else:
            said = _answer(request, titles, refusal)
        answers.setdefault(request.source, []).append(said)
    return {source: "\n\n".join(texts) for source, texts in answers.items()}


def _is_one(request: Request, titles: Sequence[str]) -> bool:
    """Whether the request names a repair that there is."""
    return request.number is not None and 1 <= request.number <= len(titles)


def _answer(request: Request, titles: Sequence[str], refusal: str) -> str:
    from bot.publish.markdown import prose

    if request.kind == "retry":
        return "Noted. The next evaluating run is told to try again."
    if request.kind == "changes":
        return "Noted. Your words are passed on to the next evaluating run."
    if request.number is None or not _is_one(request, titles):
        repairs = count(len(titles), "repair")
        said = f"There are {repairs}; write a number from 1 to {len(titles)}."
        return said if len(titles) > 1 else "There is one repair; write 1."
    if refusal:
        return f"Repair {request.number} cannot be taken out. {prose(refusal)}"
    title = prose(titles[request.number - 1])
    return f"Repair {request.number}, {title}, is taken out and recorded as rejected. {GONE}"
