"""Runs inside a harness's processes and notes which of the edited lines ran there.

A copy of this file, named `sitecustomize.py`, is put at the head of a watched process's
PYTHONPATH (`watch.py`), next to a file `plan` with the lines. It needs nothing but the standard
library, imports as little as it can, never raises, and hands over to the `sitecustomize` that it
hides. From 3.12 on it costs next to nothing (`sys.monitoring`, each line once). Before, every call
of a Python function costs up to a microsecond more, one in an edited file some microseconds
(`sys.settrace`), and a harness that sets a trace function of its own is not watched after that.

What runs is appended to `lines` in the folder that `ECDYSIS_RAN` names, one record a line, fields
separated by tabs: turn, kind, file, numbers separated by commas.

    watched                  this process is being watched
    can       file numbers   these lines are in functions, and can run
    import    file numbers   these can run when the module is imported
    ran       file numbers   these ran in a function
    imported  file numbers   these ran at import, in a module or a class body
    opened    file           a file that is no Python code was opened
    blind                    a Python process was started that is not watched
    other                    another program was started

The turn counts the tasks that a worker was given: the bot writes it into the file that
`ECDYSIS_TURN` names. It is 0 where each task has a process.

The harness may write into that folder too, so a candidate can forge what is noted. It gains
nothing but hiding that an edit of its own is of no use: whether it helps, the hidden tasks decide.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType
    from typing import Any

FUNCTION = 0x1  # CO_OPTIMIZED: neither a module nor a class body


class Slots:
    """Of one code object: the edited lines that each of its line events stands for.

    `header` are those that stand for the call itself: decorators, signature, docstring. Where there
    is a docstring, all but the first are `shown`, too: tools are often described by it, so it
    can act without a call, as soon as it is there.
    """

    def __init__(self, code: CodeType, edited: Sequence[int]) -> None:
        self.code = code  # held, so that its id is not given to another
        self.is_function = bool(code.co_flags & FUNCTION)
        self.header: list[int] = []
        self.shown: list[int] = []
        self.events: dict[int, list[int]] = {}
        self.told: dict[int, bytes] = {}  # line → the turn in which it was told of
        begin = code.co_firstlineno
        spans = []
        for start, end, column, end_column in positions(code):
            # The instruction that only begins a function stands at its first line.
            if start and not (start == begin and column == end_column == 0):
                spans.append((end - start, start, end))
        inner = [extent(nested) for nested in nested_codes(code)]
        first = min((start for _, start, _ in spans), default=begin + 1)
        for line in edited:
            if self.is_function and begin <= line < max(first, begin + 1):
                self.header.append(line)
                if line > begin and has_docstring(code):
                    self.shown.append(line)
            is_inner = any(start <= line <= end for start, end in inner)
            # The smallest instruction around it, e.g. a text over several lines.
            around = [s for s in spans if s[1] <= line <= s[2] and (s[1] == line or not is_inner)]
            if around:
                _, start, _ = min(around, key=lambda span: (span[0], -span[1]))
                self.events.setdefault(start, []).append(line)

    def lines(self) -> list[int]:
        at_events = {line for lines in self.events.values() for line in lines}
        return sorted(at_events.union(self.header).difference(self.shown))


def has_docstring(code: CodeType) -> bool:
    """Of a function's code; before 3.14 the first constant is the docstring or None."""
    if sys.version_info >= (3, 14):
        return bool(code.co_flags & 0x4000000)
    return isinstance(code.co_consts[0], str)


def positions(code: CodeType) -> Iterator[tuple[int | None, int, int | None, int | None]]:
    """(first line, last line, first column, last column) of each instruction."""
    if hasattr(code, "co_positions"):
        for start, end, column, end_column in code.co_positions():
            yield start, end or start or 0, column, end_column
    else:
        for _, _, line in code.co_lines():
            yield line, line or 0, None, 0


def nested_codes(code: CodeType) -> list[CodeType]:
    return [value for value in code.co_consts if hasattr(value, "co_firstlineno")]


def extent(code: CodeType) -> tuple[int, int]:
    """First and last line of a function or class, with all that it holds."""
    ends = [end for _, end, _, _ in positions(code)]
    ends += [extent(nested)[1] for nested in nested_codes(code)]
    return code.co_firstlineno, max(ends, default=code.co_firstlineno)


class Tracer:
    """`folder` holds the plan; notes are kept in the folder `notes`, beside the harness's own."""

    def __init__(self, folder: str, notes: str) -> None:
        self.folder = folder
        self.notes = os.path.join(notes, "lines")
        self.root = os.path.dirname(os.path.realpath(notes)) + os.sep
        self.code: dict[str, list[int]] = {}
        self.texts: dict[str, list[int]] = {}
        with open(os.path.join(folder, "plan"), encoding="utf-8") as plan:
            for entry in plan.read().splitlines():
                file, _, numbers = entry.partition("\t")
                lines = [int(number) for number in numbers.split(",") if number]
                (self.code if file.endswith(".py") else self.texts)[file] = lines
        self.turns: Any = None
        turns = os.environ.get("ECDYSIS_TURN")
        if turns:
            import mmap

            with open(turns, "rb") as file_of_turns:
                self.turns = mmap.mmap(file_of_turns.fileno(), 8, access=mmap.ACCESS_READ)
        self.once = self.turns is None
        self.names = {os.path.basename(file) for file in self.texts}
        self.known: dict[str, str | None] = {}  # co_filename → the edited file
        self.slots: dict[int, Slots] = {}  # by the id of their code
        self.told: set[tuple[bytes, str, str, tuple[int, ...]]] = set()

    def turn(self) -> bytes:
        return b"" if self.turns is None else self.turns[:8]

    def tell(self, kind: str, file: str = "", lines: Sequence[int] = ()) -> None:
        """Append a record, once a turn."""
        turn = self.turn()
        key = turn, kind, file, tuple(lines)
        if key in self.told:
            return
        if len(self.told) > 10_000:
            self.told.clear()
        self.told.add(key)
        number = int.from_bytes(turn, "little")
        record = f"{number}\t{kind}\t{file}\t{','.join(map(str, lines))}\n"
        # Opened each time: programs close descriptors that are not theirs.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        notes = os.open(self.notes, flags, 0o600)
        try:
            os.write(notes, record.encode("utf-8", "surrogateescape"))
        finally:
            os.close(notes)

    def edited_file(self, name: str) -> str | None:
        if name not in self.known:
            self.known[name] = self.find(name, self.code)
        return self.known[name]

    def find(self, name: str, files: Mapping[str, object]) -> str | None:
        """Which of the files a path is, wherever in the harness's own folders it lies."""
        real = os.path.realpath(name)
        if real.startswith(self.root):
            for file in files:
                if real.endswith(os.sep + file):
                    return file
        return None

    def enter(self, code: CodeType) -> Slots | None:
        """Code begins to run: its slots, None where it holds no edited line."""
        file = self.edited_file(code.co_filename)
        if file is None:
            return None
        slots = self.slots.get(id(code))
        if slots is None:
            slots = self.slots[id(code)] = Slots(code, self.code[file])
            if code.co_name == "<module>":
                self.tell_runnable(code, file)
        if slots.header and slots.told.get(0) != self.turn():
            slots.told[0] = self.turn()
            self.tell("ran", file, slots.header)
        return slots

    def tell_runnable(self, code: CodeType, file: str) -> None:
        slots = Slots(code, self.code[file])
        self.tell("can" if slots.is_function else "import", file, slots.lines())
        if slots.shown:
            self.tell("import", file, slots.shown)
            self.tell("imported", file, slots.shown)
        for nested in nested_codes(code):
            self.tell_runnable(nested, file)

    def reach(self, slots: Slots, line: int) -> bool:
        """A line of that code begins to run: whether it is one that stands for edited lines."""
        lines = slots.events.get(line)
        if not lines:
            return False
        turn = self.turn()
        if slots.told.get(line) != turn:
            slots.told[line] = turn
            kind = "ran" if slots.is_function else "imported"
            self.tell(kind, self.edited_file(slots.code.co_filename) or "", lines)
        return True

    # --- the interpreter's hooks ----------------------------------------------------------

    def begin(self) -> None:
        if self.code and hasattr(sys, "monitoring"):
            self.monitor()
        elif self.code:
            self.settrace()
        sys.addaudithook(self.audit)
        self.tell("watched")

    def monitor(self) -> None:
        """From 3.12 on: line events of the code that holds edited lines, and of no other."""
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - unknown to older checkers
        tool = next(number for number in (4, 3, 2, 1, 0) if not monitoring.get_tool(number))
        events = monitoring.events

        def start(code: CodeType, offset: int) -> Any:
            try:
                slots = self.enter(code)
                if slots is not None and slots.events:
                    monitoring.set_local_events(tool, code, events.LINE)
                if slots is not None and slots.header and not self.once:
                    return None
            except Exception:
                pass
            return monitoring.DISABLE

        def line(code: CodeType, number: int) -> Any:
            try:
                slots = self.slots.get(id(code))
                if slots is not None and self.reach(slots, number) and not self.once:
                    return None
            except Exception:
                pass
            return monitoring.DISABLE

        monitoring.use_tool_id(tool, "ecdysis")
        monitoring.register_callback(tool, events.PY_START, start)
        monitoring.register_callback(tool, events.LINE, line)
        monitoring.set_events(tool, events.PY_START)

    def settrace(self) -> None:
        """Before 3.12: asked at every call, it goes into code that holds edited lines."""
        foreign: set[object] = {None}  # what modules that hold no edited line have as `__file__`

        def call(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
            # As fast as can be: every call comes here. To ask for `f_code` is an audit event.
            file = frame.f_globals.get("__file__")
            try:
                if file in foreign:
                    return None
                slots = self.enter(frame.f_code)
                if slots is None:
                    if isinstance(file, str) and self.edited_file(file) is None:
                        foreign.add(file)
                    return None
                if not slots.events:
                    return None
            except Exception:
                return None

            def line(frame: FrameType, event: str, argument: Any) -> Any:
                if event == "line":
                    try:
                        self.reach(slots, frame.f_lineno)
                    except Exception:
                        return None
                return line

            return line

        import threading

        threading.settrace(call)
        sys.settrace(call)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Files that are read, and processes that will not be watched."""
        if event == "object.__getattr__":
            return
        try:
            if event == "open":
                if self.names and isinstance(arguments[0], (str, bytes)):
                    self.see_opened(os.fsdecode(arguments[0]))
            elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
                self.see_started(arguments[0], arguments[1], arguments[-1])
            elif event == "os.system":
                self.see_started("sh", arguments[0], None)
        except Exception:
            pass

    def see_opened(self, path: str) -> None:
        if os.path.basename(path) in self.names:
            file = self.find(path, self.texts)
            if file is not None:
                self.tell("opened", file)

    def see_started(self, program: Any, command: Any, env: Any) -> None:
        is_text = isinstance(command, (str, bytes))
        words = os.fsdecode(command).split() if is_text else [os.fsdecode(word) for word in command]
        names = [os.path.basename(word) for word in (os.fsdecode(program or ""), *words[:1])]
        if not any(name.startswith("python") for name in names):
            self.tell("other")
            # A shell, or what else starts programs, may start an interpreter.
            words = [part for word in words for part in word.split()]
            if not any("python" in word for word in words):
                return
        env = os.environ if env is None else env
        path = os.fsdecode(env.get("PYTHONPATH") or env.get(b"PYTHONPATH") or "")
        # The first `sitecustomize` that is found there is the one that will run.
        places = (os.path.realpath(place) for place in path.split(os.pathsep) if place)
        customs = (p for p in places if os.path.exists(os.path.join(p, "sitecustomize.py")))
        if next(customs, "") != self.folder or any(map(shuts_out, words[1:])):
            self.tell("blind")


def shuts_out(argument: str) -> bool:
    """Whether an interpreter that is given this option does not start the tracer."""
    is_option = argument[:1] == "-" and argument[1:].isalpha()
    return is_option and not {"I", "E", "S"}.isdisjoint(argument)


def hand_over(folder: str) -> None:
    """Import the `sitecustomize` that this file hides, as if this one were not here."""
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != folder]
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", this)  # its own import is not over yet


if __name__ == "sitecustomize":
    _here = os.path.dirname(os.path.realpath(__file__))
    try:
        Tracer(_here, os.environ["ECDYSIS_RAN"]).begin()
    except Exception:
        pass
    hand_over(_here)
