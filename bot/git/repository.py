"""A git repository as the bot sees it: trees, commits and refs, never the user's index."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock

from bot.display import printable
from bot.errors import RepositoryError
from bot.git import objects, refs, trees
from bot.git.calls import Caller, foreign_owner, load_gitpython, open_gitpython
from bot.git.identity import Identity, read_identity
from bot.git.names import check_oid, check_path, check_revision, clean_message
from bot.git.objects import CommitRecord, TreeEntry
from bot.git.refs import RefChange, RefMoved
from bot.git.state import RepositoryState, read_state
from bot.git.trees import CannotWrite

__all__ = ["CannotWrite", "RefChange", "RefMoved", "Repository", "TreeEntry", "init_repository"]

LISTINGS_KEPT = 16


class Repository:
    """One repository, opened once. Every method may be called from any thread."""

    root: Path  # the work tree; the git directory itself when bare
    git_dir: Path  # the COMMON git directory, shared by linked work trees
    worktree_git_dir: Path  # the git directory of this work tree

    def __init__(self, caller: Caller, root: Path, git_dir: Path, worktree_git_dir: Path) -> None:
        self.root = root
        self.git_dir = git_dir
        self.worktree_git_dir = worktree_git_dir
        self._caller = caller
        self._listings: OrderedDict[str, list[TreeEntry]] = OrderedDict()
        self._identity: Identity | None = None
        self._lock = Lock()

    @classmethod
    def open(cls, path: Path) -> Repository:
        """The repository that holds `path`.

        RepositoryError: there is none, it belongs to another user, or git cannot be run.
        """
        path = path.absolute()
        if not path.is_dir():
            raise RepositoryError(f"There is no folder {path}.", "Name one inside a repository.")
        asking = Caller(load_gitpython().GitCommandWrapperType(), path)
        three = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
        answer = asking.answer("rev-parse", *three)
        lines = os.fsdecode(answer.stdout).split("\n")
        if answer.code == 0 and len(lines) == 4:  # the usual case, in one call
            root, git_dir = Path(lines[2]), Path(os.path.normpath(path / lines[1]))
            return cls._at(root, git_dir, Path(lines[0]))
        answer = asking.answer("rev-parse", "--absolute-git-dir")
        if answer.code != 0:
            if "dubious ownership" in answer.stderr or "unsafe repository" in answer.stderr:
                raise foreign_owner(answer.stderr)
            if "not a git repository" in answer.stderr:
                raise RepositoryError(
                    f"{path} is not inside a git repository.",
                    "Go to your harness's repository, or type `git init` and commit.",
                )
            raise RepositoryError(
                f"git cannot open {path}: {printable(answer.stderr, 300)}.",
                "Mend it and try again.",
            )
        worktree_git_dir = Path(os.fsdecode(answer.stdout).removesuffix("\n"))
        git_dir = Path(os.path.normpath(path / asking.line("rev-parse", "--git-common-dir")))
        places = [path, worktree_git_dir.parent] if worktree_git_dir.name == ".git" else [path]
        root = worktree_git_dir
        for place in places:  # inside `.git` git knows no work tree
            inside = asking.at(place).answer("rev-parse", "--show-toplevel")
            if inside.code == 0 and inside.stdout.strip():
                root = Path(os.fsdecode(inside.stdout).removesuffix("\n"))
                break
        return cls._at(root, git_dir, worktree_git_dir)

    @classmethod
    def _at(cls, root: Path, git_dir: Path, worktree_git_dir: Path) -> Repository:
        # With core.worktree the work tree does not lead back to its repository.
        anchor = root if (root / ".git").exists() else worktree_git_dir
        repo = open_gitpython(worktree_git_dir)
        return cls(Caller(repo.git, anchor), root, git_dir, worktree_git_dir)

    def git(
        self, *args: str, input: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> str:
        """What `git ARGS` prints, without the last newline. RepositoryError when it fails.

        Nothing checks `args`: text that is not the bot's own belongs behind `--end-of-options`
        or `--`, or on standard input.
        """
        output = self._caller.run(*args, input=input, env=env)
        return output.decode("utf-8", "surrogateescape").removesuffix("\n")

    # --- revisions -------------------------------------------------------------------------

    def resolve_commit(self, rev: str) -> str:
        """The oid of the commit that `rev` names. RepositoryError: unknown, or no commits yet."""
        found = self._verify(rev, "commit")
        if found:
            return found
        if self.state().unborn and not self.refs("refs/"):
            raise RepositoryError(
                f"{self.root} has no commits yet.", "Commit your harness first, then try again."
            )
        if rev == "HEAD":
            raise RepositoryError(
                "The current branch has no commits yet.", "Commit first, or name a revision."
            )
        raise RepositoryError(
            f"There is no commit {printable(rev, 80)!r} here.",
            "Check the name; in a fresh or shallow clone, fetch it first.",
        )

    def find_commit(self, rev: str) -> str | None:
        """The oid of the commit that `rev` names; None where there is no such one."""
        return self._verify(rev, "commit")

    def descends(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is in the history of `commit`; False where that cannot be seen."""
        answer = self._caller.answer(
            "merge-base", "--is-ancestor", check_oid(ancestor), check_oid(commit)
        )
        return answer.code == 0

    def tree_of(self, rev: str) -> str:
        """The oid of the tree of a commit-ish or tree-ish. RepositoryError: unknown."""
        found = self._verify(rev, "tree")
        if not found:
            self.resolve_commit(rev)
            raise RepositoryError(
                f"The tree of {printable(rev, 80)!r} is missing from the repository.",
                "Run `git fsck`; in a partial clone, fetch the missing objects.",
            )
        return found

    def _verify(self, rev: str, kind: str) -> str | None:
        answer = self._caller.answer(
            *("rev-parse", "--verify", "--quiet", "--end-of-options"),
            f"{check_revision(rev)}^{{{kind}}}",
        )
        return answer.stdout.decode().strip() if answer.code == 0 else None

    def state(self) -> RepositoryState:
        """Bare, shallow, unborn, detached, a merge in progress."""
        return read_state(self._caller, self.worktree_git_dir)

    def state_problems(self) -> list[str]:
        """One sentence for each thing that is out of the ordinary."""
        return self.state().problems()

    def uncommitted(self) -> list[str]:
        """Paths of the work tree that differ from HEAD, untracked ones included; [] where bare."""
        if self.state().bare:
            return []
        listing = self.git("status", "--porcelain=v1", "--no-renames", "-z")
        return [entry[3:] for entry in listing.split("\0") if len(entry) > 3]

    def identity(self) -> Identity:
        """Who the bot's commits are by, and whether they are signed; asked of git once."""
        if self._identity is None:
            self._identity = read_identity(self._caller)
        return self._identity

    # --- reading ---------------------------------------------------------------------------

    def list_files(self, tree: str) -> list[TreeEntry]:
        """Every file, symlink and submodule of a tree, in git's order."""
        oid = self._tree_oid(tree)
        with self._lock:
            if oid in self._listings:
                self._listings.move_to_end(oid)
                return list(self._listings[oid])
        entries = objects.list_tree(self._caller, oid)
        with self._lock:
            self._listings[oid] = entries
            while len(self._listings) > LISTINGS_KEPT:
                self._listings.popitem(last=False)
        return list(entries)

    def read_file(self, tree: str, path: str) -> bytes | None:
        """The stored bytes of a regular file; None when there is none (or a symlink) at `path`."""
        return self.read_files(tree, [path]).get(path)

    def read_files(self, tree: str, paths: Iterable[str] | None = None) -> dict[str, bytes]:
        """Path → stored bytes, for the regular files among `paths` (default: all), in one call."""
        wanted = None if paths is None else set(paths)
        files = {
            entry.path: entry.oid
            for entry in self.list_files(tree)
            if entry.mode in objects.REGULAR and (wanted is None or entry.path in wanted)
        }
        contents = objects.read_blobs(self._caller, files.values())
        return {path: contents[oid] for path, oid in files.items()}

    def renames(self, old: str, new: str) -> dict[str, str]:
        """Path in `old` → path in `new` of each file that git takes for renamed."""
        listing = self.git(
            *("diff-tree", "-r", "-z", "--find-renames", "--diff-filter=R", "--name-status"),
            *("--end-of-options", self._tree_oid(old), self._tree_oid(new)),
        )
        words = listing.split("\0")[:-1]
        return dict(zip(words[1::3], words[2::3], strict=True))

    def changed_files(
        self, pairs: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], dict[str, tuple[str, str] | None]]:
        """Pair of tree oids → path → (mode, oid) in the second one, None where it is gone there.

        Only paths that differ, of all pairs in one call.
        """
        return objects.changed_files(self._caller, pairs)

    def disk_sizes(self, tips: Iterable[str], without: Iterable[str]) -> dict[str, int]:
        """Object → bytes on disk, of what is reachable from `tips` and not from `without`."""
        return objects.disk_sizes(self._caller, tips, without)

    def read_blob(self, oid: str) -> bytes:
        """The stored bytes of a blob."""
        return objects.read_blobs(self._caller, [oid])[oid]

    def read_commits(self, oids: Iterable[str]) -> dict[str, CommitRecord]:
        """Oid → commit, for those that exist."""
        return {commit.oid: commit for commit in objects.read_commits(self._caller, oids)}

    def each_commit(self, oids: Iterable[str]) -> Iterator[CommitRecord]:
        """Those of the commits that exist, while git still reads the others."""
        return objects.read_commits(self._caller, oids)

    def export(
        self, tree: str, destination: Path, *, skip: Callable[[str], bool] = lambda path: False
    ) -> None:
        """Write the files of `tree` below `destination`, as a checkout would, without `.git`.

        Symlinks that lead out of the tree are left out; submodules become empty folders;
        `skip(path)` leaves a path out.
        """
        oid = self._tree_oid(tree)
        trees.export(
            self._caller, self.worktree_git_dir, oid, self.list_files(oid), destination, skip
        )

    def _tree_oid(self, tree: str) -> str:
        with self._lock:
            if tree in self._listings:
                return tree
        return self.tree_of(tree)

    # --- writing ---------------------------------------------------------------------------

    def write_tree(self, base: str, changes: Mapping[str, bytes | None]) -> str:
        """The tree `base` with files changed, added or (None) deleted; its oid.

        As `git add` would: clean filters, line ends and attributes of the tree; modes are kept,
        new files are 100644. CannotWrite where a folder, symlink or submodule is in the way.
        """
        oid = self._tree_oid(base)
        for path in changes:
            check_path(path)
        if not changes:
            return oid
        return trees.write_tree(
            self._caller, self.worktree_git_dir, oid, self.list_files(oid), changes
        )

    def write_blob(self, data: bytes) -> str:
        """Store `data` as it is; its oid."""
        return objects.write_blob(self._caller, data)

    def make_tree(self, entries: Mapping[str, tuple[str, str]]) -> str:
        """A tree of direct entries: name → (mode, oid); its oid."""
        return objects.make_tree(self._caller, entries)

    def graft(self, base: str | None, entries: Mapping[str, tuple[str, str] | None]) -> str:
        """The tree `base` (or an empty one) with stored objects put at paths, or (None) removed."""
        tree = self._tree_oid(base) if base else None
        return trees.graft(self._caller, self.worktree_git_dir, tree, entries)

    def commit_tree(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A commit of `tree`; its oid. No ref moves and no hook runs.

        By the configured user, else by the bot; signed where `commit.gpgsign` says so, and
        RepositoryError when that cannot be done.
        """
        identity = self.identity()
        args = ["commit-tree", "--no-gpg-sign", check_oid(tree), "-F", "-"]
        if identity.sign:
            args[1] = "--gpg-sign"
        for parent in parents:
            args += ["-p", check_oid(parent)]
        text = clean_message(message).encode("utf-8", "replace")
        answer = self._caller.answer(*args, input=text, env=identity.settings())
        if answer.code != 0 and identity.sign:
            raise RepositoryError(
                f"The commit cannot be signed: {printable(answer.stderr, 300)}.",
                "commit.gpgsign is set: unlock the key, or turn it off for this repository.",
            )
        if answer.code != 0:
            raise RepositoryError(
                f"git cannot write a commit: {printable(answer.stderr, 300)}.",
                "Check user.name and user.email, and that the disk is not full.",
            )
        return answer.stdout.decode().strip()

    def commit_all(self, message: str) -> str:
        """The first commit of a repository that has none: everything in its work tree.

        RepositoryError where there is a commit already: a person's index is not the bot's.
        """
        if not self.state().unborn:
            raise RepositoryError("There are commits already.", "Commit with git yourself.")
        self._caller.run("add", "--all")
        tree = self._caller.line("write-tree")
        oid = self.commit_tree(tree, [], message)
        self._caller.run("update-ref", "--create-reflog", "HEAD", oid, "")
        return oid

    # --- refs ------------------------------------------------------------------------------

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Ref name → oid, of each prefix itself and what lies below it, in one call."""
        return refs.list_refs(self._caller, *prefixes)

    def update_ref(self, ref: str, new: str, old: str | None) -> None:
        """Compare-and-swap of one ref; `old` None means "must not exist". RefMoved otherwise."""
        self.update_refs([(ref, new, old)])

    def update_refs(self, changes: Sequence[RefChange]) -> None:
        """Compare-and-swap of several refs (name, new, old): all of them, or none.

        `new` None deletes the ref.
        """
        refs.update_refs(self._caller, changes)


def init_repository(path: Path) -> Repository:
    """A new repository in the folder `path` (made if missing), on git's own default branch."""
    path.mkdir(parents=True, exist_ok=True)
    caller = Caller(load_gitpython().GitCommandWrapperType(), path.absolute())
    caller.run("-c", "advice.defaultBranchName=false", "init", "--quiet")
    return Repository.open(path)
