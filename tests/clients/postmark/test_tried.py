"""Texts that Postmark's clients try are compiled together, within the limits of one template."""

from typing import Any

import pytest
from postmarker.core import PostmarkClient

from mailqueue.rendering.faults import Exceeded
from mailqueue.rendering.process.host import CompileProcess
from tests.clients.serving import Served


@pytest.fixture
def postmark(site: Served) -> PostmarkClient:
    return PostmarkClient(server_token=site.keys.live, root_api_url=site.url)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of jobs as they are done."""
    done = list[str]()
    real = CompileProcess.call

    async def noted(self: CompileProcess, job: str, *args: Any, **given: Any) -> dict[str, Any]:
        done.append(job)
        return await real(self, job, *args, **given)

    monkeypatch.setattr(CompileProcess, "call", noted)
    return done


def test_three_texts_are_three_jobs(postmark: PostmarkClient, jobs: list[str]) -> None:
    tried = postmark.templates.validate(
        Subject="{{a}}", HtmlBody="<p>{{b}}</p>", TextBody="{{c}}", TestRenderModel={"a": "A"}
    )

    assert tried["AllContentIsValid"]
    assert (tried["Subject"]["RenderedContent"], tried["TextBody"]["RenderedContent"]) == (
        "A",
        "c_Value",
    )
    assert jobs == ["draft", "inline", "preview"]


def test_a_text_that_does_not_compile_is_left_out_and_the_others_are_tried(
    postmark: PostmarkClient, jobs: list[str]
) -> None:
    tried = postmark.templates.validate(
        Subject="{% if %}", HtmlBody="<p>{{b}}</p>", TextBody="{{ a | unknown }}"
    )

    assert not tried["AllContentIsValid"]
    valid = {part: tried[part]["ContentIsValid"] for part in ("Subject", "HtmlBody", "TextBody")}
    assert valid == {"Subject": False, "HtmlBody": True, "TextBody": False}
    assert "b_Value" in tried["HtmlBody"]["RenderedContent"]
    assert jobs.count("draft") == 3


def test_texts_that_take_too_long_together_end_with_one_job(
    postmark: PostmarkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each alone would take the process for as long again."""
    done = list[str]()

    async def exceeded(_self: CompileProcess, job: str, *_args: Any, **_given: Any) -> Any:
        done.append(job)
        raise Exceeded("it takes more time or memory than a template may")

    monkeypatch.setattr(CompileProcess, "call", exceeded)
    tried = postmark.templates.validate(Subject="S", HtmlBody="{{a}}", TextBody="{{b}}")

    assert not tried["AllContentIsValid"]
    for part in ("Subject", "HtmlBody", "TextBody"):
        (error,) = tried[part]["ValidationErrors"]
        assert error["Message"] == "it takes more time or memory than a template may"
    assert done == ["draft"]
