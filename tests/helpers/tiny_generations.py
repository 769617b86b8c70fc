"""Generations of real specs on a one-file harness, recorded as `evolve` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.edit.apply import Applied, apply_spec
from bot.git.repository import Repository
from bot.lineage.generations import Generation, record_generation
from bot.records import Edit, ModificationSpec
from tests.edit.making import PYTHON
from tests.helpers.repairs import make_figures, make_message
from tests.helpers.repositories import git

CODE = """ANSWER = 6  # a number
LIMIT = 1


def say(answer):
    text = str(answer)
    return text
"""
SPECS: dict[str, dict[str, Any]] = {
    "Answer seven": {"op": "set_constant", "target": "ANSWER", "code": "7", "why": "Six is wrong."},
    "Say it loud": {
        "op": "replace_statements",
        "target": "say",
        "anchor": "return text",
        "code": "return text.upper()",
    },
}


def record(
    repository: Repository, specs: Mapping[str, dict[str, Any]] = SPECS, base: str = "HEAD"
) -> Generation:
    """A generation of the specs (title → its one edit) on top of `base`."""
    tree, repairs = repository.tree_of(base), []
    for title, edit in specs.items():
        message = make_message(title)
        spec = message.spec.model_copy(update={"edits": [Edit(file="agent.py", **edit)]})
        applied = apply(repository, tree, spec)
        tree = repository.write_tree(tree, dict(applied.files))
        repairs.append((tree, type(message)(spec, message.pattern, message.explanation)))
    return record_generation(repository, base_commit=base, repairs=repairs, figures=make_figures())


def apply(repository: Repository, tree: str, spec: ModificationSpec) -> Applied:
    """The files that a spec gives on a tree."""
    applied = apply_spec(
        spec,
        lambda path: repository.read_file(tree, path),
        editable=["agent.py"],
        protected=[],
        python=PYTHON,
    )
    assert isinstance(applied, Applied)
    return applied


def change(repository: Repository, old: str, new: str) -> None:
    """A person's commit that replaces a text of the harness."""
    file = repository.root / "agent.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    git(repository.root, "commit", "-qam", "Change it")
