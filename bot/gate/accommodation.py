"""Which edits serve only the tasks that they were derived from, and not the harness.

Three measures. By its text: what looks like a task's value (`task_values.py`). By what ran: on how
many tasks that it was not derived from the edit acts. By what it takes away: tools that no episode
uses any more, names of tools that stand nowhere any more. They are figures of the verdict; the
hidden tasks alone decide.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.gate.activation import EditLines, find_activation
from bot.gate.task_values import Flag
from bot.records import Accommodation, Episode, ToolStep


@dataclass(frozen=True)
class Acts:
    """The tasks in whose episodes an edit was watched, and those of them in which it acted."""

    watched: frozenset[str] = frozenset()
    acted: frozenset[str] = frozenset()

    def __or__(self, other: Acts) -> Acts:
        return Acts(self.watched | other.watched, self.acted | other.acted)


def find_acts(acting: EditLines | None, episodes: Iterable[Episode]) -> Acts:
    """`acting` are the edit's `acting_lines`, by file, in the revision that the episodes ran."""
    watched = [e for e in episodes if e.ran is not None and not e.ran.blind]
    if not acting or not watched:
        return Acts()
    active = find_activation(acting, watched)
    if active.level == "unknown":
        return Acts()
    return Acts(frozenset(e.task_id for e in watched), frozenset(active.tasks))


@dataclass(frozen=True)
class EditEvidence:
    """What is known of one edit. `derived_from` are the tasks that it was made after."""

    derived_from: frozenset[str]
    acts: Acts
    flags: Sequence[Flag] = ()


def measure_accommodation(
    edits: Sequence[EditEvidence], shrunk: Sequence[str] = ()
) -> Accommodation:
    """The figures of a candidate's edits.

    An edit is narrow where it acts on none of the other tasks although it was watched on some, or
    where it holds a task's value. What could not be watched is narrow only by its text.
    """
    acted, narrow, others = [], [], set[str]()
    for position, edit in enumerate(edits):
        watched = edit.acts.watched - edit.derived_from
        acted.append(len(edit.acts.acted - edit.derived_from))
        others |= watched
        if (watched and not acted[-1]) or any(flag.kind == "task" for flag in edit.flags):
            narrow.append(position)
    return Accommodation(
        edits=len(edits),
        other_tasks=len(others),
        acted=acted,
        narrow=narrow,
        ratio=round(len(narrow) / len(edits), 3) if edits else None,
        shrunk=list(shrunk),
        flags=[f"Edit {n}: {flag.said}" for n, edit in enumerate(edits, 1) for flag in edit.flags],
    )


# --- what an edit does only where it acts -------------------------------------------------


def acting_lines(source: bytes, numbers: Iterable[int]) -> list[int]:
    """Of an edit's lines in a Python file, those that run only where the edit does something.

    These are the lines under a condition that the edit itself brings: the branches of its `if`, the
    body of its handler or `case`, and what follows an early exit. A branch that only leaves (see
    `_only_leaves`) does nothing. Where no line is left, or where the file cannot be read, all the
    lines count: the edit acts whenever it runs.
    """
    lines = sorted(numbers)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return lines
    given = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own, acting, idle = {*lines}, set[int](), set[int]()
    for branch, condition, following in _branches(tree):
        if condition not in own:
            continue
        if _only_leaves(branch, given):
            idle |= _span(branch)
            acting |= _span(following)
        else:
            acting |= _span(branch)
    return [line for line in lines if line in acting - idle] or lines


Block = Sequence[ast.stmt]


def _branches(tree: ast.AST) -> Iterator[tuple[Block, int, Block]]:
    """Each conditional block, the line of its condition, and the statements that come after it."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, ())
            statements: Block = block if isinstance(block, list) else ()
            for position, statement in enumerate(statements):
                if isinstance(statement, ast.If):
                    yield statement.body, statement.lineno, statements[position + 1 :]
                    yield statement.orelse, statement.lineno, statements[position + 1 :]
        if isinstance(node, ast.ExceptHandler):
            yield node.body, node.lineno, ()
        elif isinstance(node, ast.match_case):
            yield node.body, node.pattern.lineno, ()


def _only_leaves(block: Block, given: set[str]) -> bool:
    """Whether a block only goes away: with `continue`, `break`, `pass`, or what it was given."""
    if len(block) != 1:
        return False
    (only,) = block
    if isinstance(only, ast.Return):
        value = only.value
        is_given = isinstance(value, ast.Name) and value.id in given
        return (
            value is None or is_given or (isinstance(value, ast.Constant) and value.value is None)
        )
    return isinstance(only, (ast.Continue, ast.Break, ast.Pass))


def _span(block: Block) -> set[int]:
    """The lines of the simple statements in a block: a condition that is asked changes nothing."""
    return {
        line
        for statement in block
        for part in ast.walk(statement)
        if isinstance(part, ast.stmt) and not hasattr(part, "body") and not hasattr(part, "cases")
        for line in range(part.lineno, (part.end_lineno or part.lineno) + 1)
    }


# --- what it takes away -------------------------------------------------------------------

_WORD = re.compile(r"\w+")
FEW = 2
"""Episodes in which a tool must have been used before, for its absence to be told."""


def shrunk_actions(
    before: Sequence[Episode],
    after: Sequence[Episode],
    files_before: Mapping[str, str],
    files_after: Mapping[str, str],
) -> list[str]:
    """Sentences on what the harness could do before and does not any more.

    `before` and `after` are episodes of the same tasks, the files those that the edits changed.
    """
    used_before, used_after = _used(before), _used(after)
    said = [
        f"No episode uses {name} any more (before: {used_before[name]} of {len(before)})."
        for name in sorted(used_before)
        if used_before[name] >= FEW and name not in used_after
    ]
    old, new = (
        {word for text in files.values() for word in _WORD.findall(text)}
        for files in (files_before, files_after)
    )
    said += [
        f"The edited files no longer hold the tool's name {name}."
        for name in sorted(_tools([*before, *after]))
        if name in old and name not in new
    ]
    return said


def _used(episodes: Iterable[Episode]) -> dict[str, int]:
    """Tool → number of episodes that used it without an error."""
    counts: dict[str, int] = {}
    for episode in episodes:
        steps = (step for step in episode.steps if isinstance(step, ToolStep) and not step.error)
        for name in {step.name for step in steps}:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _tools(episodes: Iterable[Episode]) -> set[str]:
    return {s.name for e in episodes for s in e.steps if isinstance(s, ToolStep)}
