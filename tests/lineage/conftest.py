from pathlib import Path

import pytest

from tests.helpers.repositories import isolate_git


@pytest.fixture(autouse=True)
def git_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder whose `gitconfig` is all the configuration that git sees."""
    home = tmp_path_factory.mktemp("home")
    isolate_git(monkeypatch, home)
    return home
