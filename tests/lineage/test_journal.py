"""What a killed run leaves, and what the next one makes of it."""

from pathlib import Path

from bot.lineage.journal import open_journal


def compared(git_dir: Path, *numbers: int) -> None:
    for number in numbers:
        (git_dir / "ecdysis" / "evolve" / f"select-{number}.jsonl").touch()


def test_a_run_goes_on_with_the_levels_that_it_used(tmp_path: Path) -> None:
    with open_journal(tmp_path, base="a", below=None, settings={}) as journal:
        compared(tmp_path, 1, 2)
        journal.reach("b", [(0.03, False), (0.008, True)])
        compared(tmp_path, 3)  # begun, not decided: it is decided again from its episodes
    with open_journal(tmp_path, base="b", below="a", settings={}) as journal:
        assert journal.resumed
        assert journal.used == [(0.03, False), (0.008, True)]


def test_comparisons_of_a_generation_that_was_only_committed_count(tmp_path: Path) -> None:
    """Killed between the commit and the journal: the error that they used is not given again."""
    with open_journal(tmp_path, base="a", below=None, settings={}) as journal:
        compared(tmp_path, 1)
        journal.reach("b", [(0.03, True)])
        compared(tmp_path, 2, 3)
    with open_journal(tmp_path, base="c", below="b", settings={}) as journal:
        assert (journal.start, journal.base) == ("a", "c")
        assert journal.used == [(0.03, True), (0.0, False), (0.0, False)]


def test_other_settings_start_afresh(tmp_path: Path) -> None:
    with open_journal(tmp_path, base="a", below=None, settings={"trials": 1}):
        compared(tmp_path, 1)
    with open_journal(tmp_path, base="a", below=None, settings={"trials": 2}) as journal:
        assert not journal.resumed
        assert journal.comparisons() == 0


def test_a_base_that_no_generation_of_the_run_reached_starts_afresh(tmp_path: Path) -> None:
    """A person's commit on top of where a run was interrupted is not what the run made."""
    with open_journal(tmp_path, base="a", below=None, settings={}) as journal:
        compared(tmp_path, 1)
    with open_journal(tmp_path, base="b", below=None, settings={}) as journal:
        assert not journal.resumed
        assert (journal.start, journal.used, journal.comparisons()) == ("b", [], 0)
