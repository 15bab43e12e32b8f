"""TestMode: a test key can only read and change test data, by every endpoint."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx2
import pytest
from starlette.applications import Starlette

from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.openapi.document import operation_id
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.wiring.api import build_services
from tests.api.projects.test_tenants_apart import needed_query
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.modes import (
    OF_KEYS,
    OF_SHAPES,
    PROJECT,
    Modes,
    both_modes,
    changes,
    credentials,
    paths,
)
from tests.api.support.tenancy import MAIL, MARK

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def modes(module_db: str) -> AsyncIterator[Modes]:
    async with both_modes(module_db) as found:
        yield found


def names_a_thing(endpoint: Endpoint) -> bool:
    """Return whether the path names an object that has a mode."""
    things = (
        *("{email_id}", "{message_id}", "{batch_id}", "{delivery_id}"),
        "{operation_id}",
        "{schedule_id}",
        "{event_id}",
        "{enrollment_id}",
        *("{contact}", "{contact_id}", "{list}", "{list_id}"),
    )
    # There a batch is the name of a campaign, which has no mode.
    if endpoint.path.startswith(("/v3/mail/batch", "/v3/user/scheduled_sends")):
        return False
    paths_of_keys = ("api-keys/{key_id}", "api_keys/{key_id}", "/v1/keys/{key_id}")
    is_key = any(name in endpoint.path for name in paths_of_keys)
    return is_key or any(name in endpoint.path for name in things)


def test_every_endpoint_says_what_it_does_for_test_keys() -> None:
    """An endpoint that does not declare it refuses test keys and fails here."""
    silent = [
        f"{each.method} {each.path}"
        for each in (*OF_KEYS, *(each for _, each in OF_SHAPES))
        if each.test_keys is None
    ]

    assert silent == []


def test_what_only_shows_is_asked_for_with_get_or_is_known_to() -> None:
    shows = {
        each.path for each in OF_KEYS if each.test_keys is ForTestKeys.READ and each.method != "GET"
    }

    assert shows == {
        "/v1/projects/{pid}/routes/test",
        "/v1/projects/{pid}/templates/{template}/preview",
    }


async def test_a_test_key_finds_and_changes_nothing_that_is_live(modes: Modes) -> None:
    before = await modes.picture()
    for endpoint in OF_KEYS:
        for path in paths(endpoint, modes):
            answer = await modes.http.request(
                endpoint.method,
                path,
                headers={"X-API-Key": modes.test},
                params=needed_query(endpoint),
                json=(endpoint.example or {}) if endpoint.request else None,
            )
            what = (operation_id(endpoint), path, answer.status_code, answer.text)
            if endpoint.test_keys is ForTestKeys.REFUSED:
                assert answer.status_code == 403, what
                assert "test key" in answer.json()["message"], what
            elif names_a_thing(endpoint):
                assert answer.status_code == 404, what
            else:
                assert answer.status_code < 500, what
                assert answer.status_code != 403, what
            if endpoint.test_keys is ForTestKeys.OWN:
                # Sequences have no mode: enrollments of a test key name them.
                told = answer.text.replace(f'"sequence":"{MARK}"', "")
                assert answer.is_error or MARK not in told, what
                assert answer.is_error or not any(id_ in answer.text for id_ in _ids(modes)), what

    assert changes(before, await modes.picture()) == {}


def _ids(modes: Modes) -> list[str]:
    named = ["batch_id", "delivery_id", "operation_id", "schedule_id", "enrollment_id"]
    named += ["api-keys", "upload", "export_id", "import_id", "ab_test_id"]
    return [*modes.emails.values(), *(modes.variables[name] for name in named)]


async def test_nor_by_any_of_the_compatible_apis(modes: Modes) -> None:
    before = await modes.picture()
    for shape, endpoint in OF_SHAPES:
        for path in paths(endpoint, modes):
            body = {"scheduled_at": "2030-01-01T00:00:00Z"} if endpoint.method == "PATCH" else {}
            answer = await modes.http.request(
                endpoint.method,
                path,
                headers=credentials(shape, modes.test),
                json=body if endpoint.method != "GET" else None,
            )
            what = (shape, endpoint.method, path, answer.status_code, answer.text)
            assert answer.status_code < 500, what
            if names_a_thing(endpoint) and endpoint.test_keys is not ForTestKeys.REFUSED:
                assert answer.status_code in (404, 422), what
            assert not any(one in answer.text for one in _ids(modes) if one not in path), what
            if endpoint.test_keys is ForTestKeys.OWN:
                assert answer.is_error or MARK not in answer.text, what
            elif endpoint.test_keys is ForTestKeys.REFUSED:
                assert answer.is_error, what
                assert "test key" in answer.text or "lacks" in answer.text, what

    assert changes(before, await modes.picture()) == {}


async def test_the_crawl_would_see_what_can_be_seen(modes: Modes) -> None:
    """The live key finds everything that the test key must not."""
    for endpoint in OF_KEYS:
        if endpoint.method == "GET" and names_a_thing(endpoint):
            for path in paths(endpoint, modes):
                answer = await modes.call("GET", path, key=modes.live)
                assert answer.status_code == 200, (path, answer.text)
    for shape, endpoint in OF_SHAPES:
        if endpoint.method == "GET" and names_a_thing(endpoint) and "attach" not in endpoint.path:
            for path in paths(endpoint, modes):
                answer = await modes.http.get(path, headers=credentials(shape, modes.live))
                assert answer.status_code == 200, (path, answer.text)


async def test_what_has_no_mode_is_shown_to_test_keys(modes: Modes) -> None:
    shown = 0
    for endpoint in OF_KEYS:
        if endpoint.test_keys is ForTestKeys.READ and endpoint.method == "GET":
            for path in paths(endpoint, modes):
                answer = await modes.http.get(
                    path, headers={"X-API-Key": modes.test}, params=needed_query(endpoint)
                )
                assert answer.status_code in (200, 404, 422), (path, answer.text)
                shown += answer.status_code == 200

    assert shown > 20


async def test_an_endpoint_without_a_word_is_refused_and_one_that_only_shows_cannot_write(
    modes: Modes,
) -> None:
    settings = settings_for(modes.database)
    runtime = Runtime(settings, modes.pool, build_services(settings, modes.pool))
    by_name = {operation_id(each): each for each in OF_KEYS}
    bent = [
        replace(by_name["get_emails"], test_keys=None),
        replace(by_name["post_suppressions"], test_keys=ForTestKeys.READ),
    ]
    transport = httpx2.ASGITransport(Starlette(routes=[Routing(bent, runtime)]))
    before = await modes.picture()

    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
        headers = {"X-API-Key": modes.test}
        silent = await http.get("/v1/emails", headers=headers)
        wrong = await http.post(
            "/v1/suppressions",
            json={"emails": ["ann@example.com"], "reason": "manual"},
            headers=headers,
        )

    assert (silent.status_code, wrong.is_error) == (403, True)
    assert await modes.picture() == before


async def test_a_test_key_previews_sends_and_tries_what_live_keys_made(modes: Modes) -> None:
    template = f"/v1/projects/{PROJECT}/templates/{MARK}"
    by_template = {"to": ["ann@example.com"], "template_slug": MARK}
    shared = {**by_template, "recipients": [{"email": "ann@example.com"}]}
    del shared["to"]

    answers = [
        await modes.call("POST", f"{template}/preview", {}),
        await modes.call("POST", "/v1/send/template", by_template),
        await modes.call("POST", "/v1/send/template/batch", shared),
        await modes.call("POST", "/v1/send", {**MAIL, "dry_run": True}),
    ]
    route = answers[-1].json()["route"]

    assert [answer.status_code for answer in answers] == [200, 202, 202, 200]
    assert [one["name"] for one in route["senders"]] == ["pit"]
