"""`--against` of the benches: a commit becomes a folder for the run, and ratios are printed."""

import subprocess
import sys
from pathlib import Path

import click
import orjson
import pytest

from bench.report import Report
from bench.versions import HERE, VersionType

GIT = ("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two commits, of which the last is tagged."""
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run([*GIT, "init", "--quiet", str(folder)], check=True)
    for text in ("first", "second"):
        (folder / "file").write_text(text)
        subprocess.run([*GIT, "-C", str(folder), "add", "file"], check=True)
        subprocess.run([*GIT, "-C", str(folder), "commit", "--quiet", "-m", text], check=True)
    subprocess.run([*GIT, "-C", str(folder), "tag", "newest"], check=True)
    return folder


@pytest.mark.deep
def test_a_commit_is_a_folder_until_the_command_ends(repository: Path) -> None:
    with click.Context(click.Command("bench")) as ctx:
        before = VersionType(repository).convert("newest~1", None, ctx)
        assert (before / "file").read_text() == "first"
        (repository / "file").write_text("changed")
        assert (VersionType(repository).convert("newest", None, ctx) / "file").read_text() == (
            "second"
        )

    assert not before.exists()
    assert not before.parent.exists()


@pytest.mark.deep
@pytest.mark.parametrize("value", ["nowhere", "--help", "newest:file", ""])
def test_what_is_neither_a_folder_nor_a_commit_is_refused(repository: Path, value: str) -> None:
    with (
        click.Context(click.Command("bench")) as ctx,
        pytest.raises(click.BadParameter, match="neither a folder nor a commit"),
    ):
        VersionType(repository).convert(value or "no such folder", None, ctx)


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert VersionType().convert(str(tmp_path), None, None) == tmp_path


def test_ratios_are_those_of_the_medians_of_this_version_and_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report("drain", {})
    for ours, theirs in ((100, 50), (110, 50), (400, 60)):
        report.add("own, 1 process", {"a second": ours, "lost": 0})
        report.add("own, 1 process, 0123abcd", {"a second": theirs, "lost": 0})
    report.add("own, 2 processes", {"a second": 5})

    assert report.ratios() == {"own, 1 process, this / 0123abcd": {"a second": 2.2}}
    report.print_ratios()
    heading, line = capsys.readouterr().out.strip().splitlines()
    assert heading.split() == ["ratio", "a", "second", "lost"]
    assert line.split()[-4:] == ["/", "0123abcd", "2.20", "-"]


def test_without_another_version_nothing_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report("drain", {})
    report.add("own, 1 process", {"a second": 1})

    report.print_ratios()

    assert report.ratios() == {}
    assert capsys.readouterr().out == ""


@pytest.mark.deep
def test_a_short_run_against_a_commit_measures_both(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench.api", "--clients", "1", "--count", "20"]
    done = subprocess.run(
        [*command, "--repeat", "1", "--against", "HEAD", "--json", str(figures)],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    found = orjson.loads(figures.read_bytes())
    assert [len(runs) for runs in found["runs"].values()] == [1, 1]
    [ratios] = found["ratios"].values()
    assert ratios["mails/s"] > 0  # processor time of a short run may be none
    assert "this / " in done.stdout
