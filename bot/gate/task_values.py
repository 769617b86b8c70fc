"""What in an edit looks as if it were made for some tasks, or for one model, by its text alone.

An edit is meant to change the harness. Where it holds a task's own values, branches on a literal,
lays down a table of answers, or takes choices away by an absolute rule, it more likely serves what
it was derived from. None of this is proof: a flag is a sentence for the reviewer and a figure in
the verdict, and only the hidden tasks decide. Words that the harness knew before (its files, the
tool contract) are never flagged, nor those that many tasks have in common.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.records import Task

Kind = Literal["task", "value", "branch", "table", "rule", "threshold", "refusal"]


@dataclass(frozen=True)
class Flag:
    """`said` is a sentence that shows what was found."""

    kind: Kind
    said: str


COMMON_TASKS = 2
"""A word that stands in more tasks than this is common to them, not a value of one."""

_WORD = re.compile(r"[\w@.-]*\w")
# What chat protocols and JSON schemas write, whichever harness it is.
_PROTOCOL = frozenset(
    re.findall(
        r"\w+",
        """
        system user assistant tool function developer role content name arguments type id index
        stop length tool_calls tool_call_id function_call content_filter finish_reason end_turn
        string integer number boolean array object null properties required description enum const
        text json true false yes no none error
        """,
    )
)


def find_flags(added: str, *, known: str = "", tasks: Iterable[Task] = ()) -> list[Flag]:
    """Every flag of what one edit adds: code, prose, or a piece of either.

    `known` is all that the harness knew before. Without it (empty) names are not judged, because
    they may be those of its tools.
    """
    tree = parse_piece(added)
    texts = [added] if tree is None else [*_texts(tree)]
    told = _Known(known)
    flags = [*_task_values(added, told, tasks)]
    for text in texts:
        flags += [*_values(text, told, is_prose=tree is not None), *_rules(text, told)]
    if tree is not None:
        flags += [*_branches(tree, told), *_tables(tree, told), *_fractions(tree)]
        flags += _refusals(tree)
    else:
        flags += _listed(added, told)
    return list(dict.fromkeys(flags))


class _Known:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words = {word.lower() for word in _WORD.findall(text)} | _PROTOCOL

    def __contains__(self, phrase: str) -> bool:
        return phrase.lower() in self.words or (bool(self.text) and phrase in self.text)


def parse_piece(text: str) -> ast.AST | None:
    """The syntax of a piece of code, however it is cut out; None for prose."""
    lines = textwrap.dedent(text.strip("\n").rstrip()).split("\n")
    rest = textwrap.dedent("\n".join(lines[1:]))
    for piece in (
        "\n".join(lines),
        "\n".join([lines[0].strip(), rest]),
        "\n".join([lines[0].strip(), textwrap.indent(rest, "    ")]),
        "\n".join(["try:", "    pass", *lines]),
    ):
        try:
            tree = ast.parse(piece)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        # Single words are syntax, too.
        return None if all(map(_is_bare, tree.body)) else tree
    return None


def _is_bare(node: ast.stmt) -> bool:
    simple = (ast.Name, ast.Attribute, ast.Tuple, ast.BinOp, ast.Compare)
    return isinstance(node, ast.AnnAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, simple)
    )


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


# --- against the tasks --------------------------------------------------------------------


def _task_values(added: str, known: _Known, tasks: Iterable[Task]) -> Iterator[Flag]:
    """Words that stand in a task or two, and in the edit, but were not known to the harness."""
    counts: Counter[str] = Counter()
    owners: dict[str, str] = {}
    for task in tasks:
        for word in {*_task_words(task)}:
            counts[word] += 1
            owners.setdefault(word, task.task_id)
    literals = {text.strip().lower() for text in _quoted(added)}
    for word in dict.fromkeys(word.lower() for word in _WORD.findall(added)):
        if not 1 <= counts[word] <= COMMON_TASKS or word in known:
            continue
        # Plain words of the language occur in tasks, too: only a literal is meant as a value.
        if word in literals or (len(word) >= 3 and any(c.isdigit() for c in word)):
            yield Flag("task", f"It holds {word!r}, which stands in {owners[word]}.")


def _task_words(task: Task) -> Iterator[str]:
    yield task.task_id.lower()
    values: list[Any] = [task.input, task.expected]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif value is not None and not isinstance(value, bool):
            yield from (word.lower() for word in _WORD.findall(str(value)))


def _quoted(text: str) -> Iterator[str]:
    tree = parse_piece(text)
    if tree is not None:
        yield from _texts(tree)
    else:
        yield from re.findall(r"[\"'`]([^\"'`\n]{2,80})[\"'`]", text)


# --- by their form ------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"[{<$*]|\.\.\.")
_VALUES = {
    "a date": re.compile(
        r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b"
        r"|\b(?:January|February|March|April|May|June|July|August|September|October|November"
        r"|December) (?:\d{1,2}(?:st|nd|rd|th)?,? )?(?:19|20)\d\d\b"
    ),
    "an identifier": re.compile(
        r"\b(?!SHA|ISO|RFC|UTF|HTTP)[A-Z]{1,4}-?\d{3,}\b|\b\d{3}-\d{3,4}-\d{4}\b"
    ),
    "a file": re.compile(r"(?<![\w/.{<$-])(?:[\w-]+/)+[\w.-]*\w\.[a-z]{1,5}\b"),
    "an address": re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"),
    "a number": re.compile(r"(?<![\w.])(?:\d+\.\d{3,}|\d{5,}|\d{1,3}(?:,\d{3})+)\b"),
    "a proper name": re.compile(r"[\"'“`]([A-Z][a-z]+(?:,? [A-Z][\w.]*)+)[\"'”`]"),
    "a query": re.compile(r"\bSELECT\b[^;{<$]{1,200}?\bFROM\s+\w+"),
    "a class": re.compile(
        r"\b(?!Your|My|Some)(?:[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z]{3,}[a-z]{2,}\w*)(?<!Error)(?<!Exception)\b"
    ),
}
_CODE = re.compile(r"^\s*(?:def|class|import|from|return|raise) ", re.MULTILINE)
_NAME = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")


def _values(text: str, known: _Known, *, is_prose: bool) -> Iterator[Flag]:
    """Values that prose and prompts name although they cannot hold for every task."""
    for what, form in _VALUES.items():
        if what == "a class" and not is_prose and _CODE.search(text):
            continue  # a piece of code that could not be read
        for found in form.finditer(text):
            value = found.group(found.lastindex or 0)
            if value not in known and not _PLACEHOLDER.search(value):
                yield Flag("value", f"It names {what}: {value}.")
    if known.text and len(text.split()) > 3:
        for name in _NAME.findall(text):
            if name not in known:
                yield Flag("value", f"It names {name}, which is nothing of the harness's.")


_ABSOLUTE = re.compile(
    r"\b(?:ALWAYS|NEVER|MUST|ONLY|MANDATORY|IMMEDIATELY|REQUIRED|FORBIDDEN|CRITICAL|"
    r"(?:DO|Do|do) NOT|INSTEAD OF)\b"
)
_CONDITION = re.compile(r"\b(?:if|when|whenever|unless|for|before|after|until)\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\b\d+ ?[-–] ?\d+ +\w+|\b\d+(?:\.\d+)?\s?%"
    r"|\b(?:after|every|within|first|last|most|least|than|exactly|of)\s+\d+\s+"
    r"(?:steps?|attempts?|turns?|calls?|words?|times|items?|characters|lines|tries|searches|rows)\b",
    re.IGNORECASE,
)


def _rules(text: str, known: _Known) -> Iterator[Flag]:
    """Absolute rules bound to a condition, and amounts that someone has fixed."""
    for line in re.split(r"\n\s*\n|(?<=[.!?])\s+", text):
        words = [found[0] for found in _ABSOLUTE.finditer(line)]
        if words and (len(words) > 1 or _CONDITION.search(line)) and line not in known.text:
            yield Flag("rule", f"It lays down an absolute rule: {_short(line)}")
    for found in _AMOUNT.finditer(text):
        if found[0] not in known.text:
            yield Flag("threshold", f"It fixes an amount: {_short(found[0])}.")


def _branches(tree: ast.AST, known: _Known) -> Iterator[Flag]:
    """Comparisons with literals that look like somebody's values, or with lists of keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            literals = [text for side in sides for text in _strings(side) if text not in known]
            if isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
                for text in literals:
                    if len(literals) >= 3 or _is_value(text):
                        yield Flag("branch", f"It branches on {_short(text)!r}.")
        elif isinstance(node, ast.match_case):
            for text in _strings(node.pattern):
                if text not in known and _is_value(text):
                    yield Flag("branch", f"It branches on {_short(text)!r}.")
        elif isinstance(node, (ast.For, ast.comprehension)):
            words = [w for w in _strings(node.iter) if w not in known and re.search("[a-z]", w)]
            if len(words) >= 3:
                yield Flag("branch", f"It looks for fixed words: {_short(', '.join(words))}.")


def _is_value(text: str) -> bool:
    """Words with a space, a digit among letters, or a capital: no keyword of a program."""
    has_letter = any(c.isalpha() for c in text)
    return has_letter and bool(re.search(r"\S\s+\S|\d|^[A-Z][a-z]", text))


def _tables(tree: ast.AST, known: _Known) -> Iterator[Flag]:
    """Literal tables from texts to values, and long lists of names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = [
                key.value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and isinstance(value, ast.Constant)
                and key.value not in known
            ]
            if len(pairs) >= 3:
                yield Flag("table", f"It holds a table of {len(pairs)} values: {_list(pairs)}.")
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            names = [e.value for e in node.elts if isinstance(e, ast.Constant)]
            yield from _long_list([name for name in names if isinstance(name, str)], known)


_QUOTED = r"(?:\"[^\"\n]+\"|'[^'\n]+'),\s*"
_LIST = re.compile(rf"(?:{_QUOTED}){{4,}}")


def _listed(text: str, known: _Known) -> Iterator[Flag]:
    """Long lists of quoted names in a piece that is no whole code."""
    for found in _LIST.finditer(text):
        yield from _long_list([q.strip(" \n,\"'") for q in re.findall(_QUOTED, found[0])], known)


def _long_list(names: Sequence[str], known: _Known) -> Iterator[Flag]:
    names = [name for name in names if name not in known and any(c.isalpha() for c in name)]
    if len(names) >= 5:
        yield Flag("table", f"It holds a list of {len(names)} names: {_list(names)}.")


_SHARE = re.compile(r"fraction|ratio|threshold|percent|pct|share|cutoff", re.IGNORECASE)


def _fractions(tree: ast.AST) -> Iterator[Flag]:
    """Shares that somebody has tuned: numbers between 0 and 1, or what a percentage is held to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names, values = " ".join(map(ast.unparse, node.targets)), [node.value]
        elif isinstance(node, ast.Compare):
            names, values = ast.unparse(node.left), node.comparators
        else:
            continue
        is_share = bool(_SHARE.search(names))
        for value in (v.value for v in values if isinstance(v, ast.Constant)):
            if isinstance(value, (int, float)) and value not in (0, 0.5, 1, 100):
                tuned = 0 < value < 1 and isinstance(node, ast.Compare)
                if tuned or (is_share and 0 < value < 100):
                    yield Flag("threshold", f"It fixes a share: {value:g}.")


_REFUSAL = re.compile(r"error|refus|block|reject|denied|not allowed|forbidden|already", re.I)


def _refusals(tree: ast.AST) -> Iterator[Flag]:
    """Under a condition that does not ask what the contract knows, something is refused."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.If) or _asks_what_is_known(node.test):
            continue
        for inner in node.body:
            if isinstance(inner, ast.Raise) and inner.exc is not None:
                raised = inner.exc.func if isinstance(inner.exc, ast.Call) else inner.exc
                name = ast.unparse(raised)
                if not hasattr(builtins, name):
                    yield Flag("refusal", f"It ends the episode with {name}.")
            elif isinstance(inner, ast.Return) and inner.value is not None:
                said = " ".join(_strings(inner.value))
                if _REFUSAL.search(said):
                    yield Flag("refusal", f"It refuses something: {_short(said)!r}.")


def _asks_what_is_known(test: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], (ast.In, ast.NotIn))
        and not list(_strings(node.comparators[0]))
        for node in ast.walk(test)
    )


def _strings(node: ast.AST) -> Sequence[str]:
    return [text for text in _texts(node) if text.strip()]


def _list(words: Sequence[str]) -> str:
    return _short(", ".join(words))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."
