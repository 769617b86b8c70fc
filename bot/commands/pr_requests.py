"""What `ecdysis pr` does about requests on its pull request: repairs taken out, answers given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.display import count

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation
    from bot.publish.facts import GenerationFacts
    from bot.publish.requests import Request


@dataclass(frozen=True)
class Rebuilt:
    """A generation without some of its repairs; `refusal` says why it is still the old one."""

    generation: Generation
    refusal: str = ""


def dropped_numbers(requests: Sequence[Request], generation: Generation) -> set[int]:
    """The repairs that are to be taken out, from 1."""
    there = range(1, len(generation.repairs) + 1)
    return {r.number for r in requests if r.kind == "drop" and r.number in there if r.number}


def drop_repairs(repository: Repository, generation: Generation, numbers: set[int]) -> Rebuilt:
    """The generation without these repairs, the others applied again to its base.

    Its number, branch and ref stay; what it showed before stays reachable as their old value in
    the reflog alone. Figures are left out: they were measured with what is gone.
    """
    from bot.commands.apply import edit_rules, reapply_on
    from bot.edit.refusal import Refusal
    from bot.lineage.evidence import add_notes, move_note, read_note, stored_spec
    from bot.lineage.generations import GENERATION_PREFIX, find_generation
    from bot.lineage.message import PREFIX, write_moved_message

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
        moved = write_moved_message(repair.message, result.spec, repair.commit)
        message = f"{moved.rstrip()}\n{PREFIX}Generation: {generation.number}\n"
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
    repository: Repository, generation: Generation, requests: Sequence[Request], pull: int
) -> None:
    """Keep each repair that was taken out as rejected, with the words of who asked for it."""
    for request in requests:
        if request.kind == "drop" and request.number:
            words = f" {request.words}" if request.words else ""
            reason = f"Taken out of pull request {pull} by {request.author}.{words}"
            reject(repository, generation, request.number, reason)


def reject(repository: Repository, generation: Generation, number: int, reason: str) -> bool:
    """Keep one repair as rejected. False: its spec is not in this clone."""
    from bot.lineage.evidence import read_note, stored_spec
    from bot.lineage.rejected import record_rejected

    repair = generation.repairs[number - 1]
    spec = stored_spec(read_note(repository, repair.commit) or {})
    if spec is None:
        return False
    tree = repository.tree_of(repair.commit)
    record_rejected(repository, tree=tree, spec=spec, reason=reason, base_commit=generation.base)
    return True


def write_answers(
    requests: Sequence[Request],
    facts: GenerationFacts,
    dropped: set[int],
    refusal: str,
) -> dict[str, str]:
    """Source → the text of the one comment that answers all of it.

    `facts` are those of the generation as the requests saw it.
    """
    answers: dict[str, list[str]] = {}
    for request in requests:
        answers.setdefault(request.source, []).append(_answer(request, facts, dropped, refusal))
    return {source: "\n\n".join(texts) for source, texts in answers.items()}


def _answer(request: Request, facts: GenerationFacts, dropped: set[int], refusal: str) -> str:
    from bot.publish.body import write_explanation
    from bot.publish.markdown import prose

    repairs = len(facts.repairs)
    if request.kind == "retry":
        return "Noted. The next evaluating run is told to try again."
    if request.kind == "changes":
        return "Noted. Your words are passed on to the next evaluating run."
    if request.number is None or not 1 <= request.number <= repairs:
        said = f"There are {count(repairs, 'repair')}; write a number from 1 to {repairs}."
        return said if repairs > 1 else "There is one repair; write 1."
    if request.kind == "explain":
        return write_explanation(replace(facts), request.number)
    if request.number in dropped and not refusal:
        return (
            f"Repair {request.number}, {prose(facts.repairs[request.number - 1].title)}, is taken "
            "out and recorded as rejected. The figures were measured with it and are gone; "
            "`/ecdysis retry` asks for new ones. The repairs are numbered anew."
        )
    return f"Repair {request.number} cannot be taken out. {prose(refusal)}"
