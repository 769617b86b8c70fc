from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.llm.proxy.RETRIES", 1)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache: what one test learned of a server is not known to the next."""
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "own-cache"))
    return tmp_path / "own-cache"
