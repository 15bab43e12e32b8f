"""`/pref/{token}`: the preference centre of recipients. GET changes nothing."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.analytics.exports import requests
from mailqueue.analytics.exports.model import DataAsked
from mailqueue.api.public.recipient_page import FORM_BOUNDS, Visit
from mailqueue.suppression.subscriptions import choices as subscriptions_choices
from mailqueue.suppression.subscriptions.model import (
    EVERYTHING,
    Choice,
    ChoiceSource,
    Subscription,
    Subscriptions,
    SubscriptionState,
)
from mailqueue.web.forms import read_form

MAX_PAUSE = timedelta(days=366)
DEFAULT_PAUSE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A category as shown on the page, in the recipient's language."""

    one: Subscription
    name: str
    description: str
    chosen: str
    until: str
    is_faulty: bool


async def preferences(visit: Visit) -> Response:
    """Return the page; a POST first saves the choices."""
    if visit.request.method != "POST":
        return await _shown(visit)
    form = await read_form(visit.request, FORM_BOUNDS)
    origin = visit.origin(ChoiceSource.CENTRE)
    if form.get("action") == "leave":
        async with visit.connection() as conn:
            await subscriptions_choices.unsubscribe(
                conn, visit.reader, from_all=True, origin=origin
            )
        return await _shown(visit, is_saved=True)
    if form.get("action") == "data":
        async with visit.connection() as conn:
            asked = await requests.ask_for_data(
                conn,
                visit.reader.project_id,
                email_id=visit.token.email_id,
                recipient=visit.token.recipient,
                language=visit.words.tag,
            )
        return await _shown(visit, data_asked=asked)
    async with visit.connection() as conn:
        found = await subscriptions_choices.subscriptions_of(conn, visit.reader)
        choices = _choices(found, form, today=datetime.now(UTC).date())
        if choices is not None:
            await subscriptions_choices.save(conn, visit.reader, choices, origin=origin)
    if choices is None:
        return await _shown(visit, form=form)
    return await _shown(visit, is_saved=True)


def _choices(
    subscriptions: Subscriptions, form: dict[str, str], *, today: date
) -> list[Choice] | None:
    """Return the choices of a form; None where the end of a pause is invalid. Pure.

    Categories that the form does not name are unchanged: they may have been added since.
    """
    choices = list[Choice]()
    for one in subscriptions.categories:
        wanted = form.get(f"category.{one.slug}")
        if one.is_required or wanted not in list(SubscriptionState):
            continue
        until = None
        if wanted == SubscriptionState.PAUSED:
            until = _pause_of(form.get(f"until.{one.slug}", ""), today=today)
            if until is None:
                return None
        choices.append(Choice(one.slug, SubscriptionState(wanted), until))
    if subscriptions.has_left_all and any(
        one.state is not SubscriptionState.OFF for one in choices
    ):
        choices.append(Choice(EVERYTHING, SubscriptionState.ON))
    return choices


def _pause_of(text: str, *, today: date) -> datetime | None:
    """Return the end of a pause, between tomorrow and one year from now; None if it is invalid.
    Pure.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    if not today < day <= today + MAX_PAUSE:
        return None
    return datetime.combine(day, time(), UTC)


async def _shown(
    visit: Visit,
    *,
    is_saved: bool = False,
    form: dict[str, str] | None = None,
    data_asked: DataAsked | None = None,
) -> Response:
    """Return the page with the saved choices, or with those of an invalid form."""
    async with visit.connection() as conn:
        found = await subscriptions_choices.subscriptions_of(conn, visit.reader)
        offers_data = await requests.offers_data(
            conn, visit.reader.project_id, visit.reader.email_id
        )
    today = datetime.now(UTC).date()
    given = form or {}
    rows = [
        PreferenceRow(
            one,
            name=visit.words.name_of(one),
            description=visit.words.description_of(one),
            chosen=given.get(f"category.{one.slug}", one.state.value),
            until=given.get(f"until.{one.slug}", _day(one, today + DEFAULT_PAUSE)),
            is_faulty=form is not None and _is_faulty(given, one.slug, today=today),
        )
        for one in found.categories
    ]
    return visit.page(
        "preferences.html",
        status=HTTPStatus.OK if form is None else HTTPStatus.UNPROCESSABLE_ENTITY,
        rows=rows,
        has_left_all=found.has_left_all,
        is_stopped=found.is_stopped,
        first=(today + timedelta(days=1)).isoformat(),
        last=(today + MAX_PAUSE).isoformat(),
        is_saved=is_saved,
        offers_data=offers_data and data_asked is None,
        data_asked=data_asked,
    )


def _is_faulty(form: dict[str, str], slug: str, *, today: date) -> bool:
    is_paused = form.get(f"category.{slug}") == SubscriptionState.PAUSED
    return is_paused and _pause_of(form.get(f"until.{slug}", ""), today=today) is None


def _day(one: Subscription, otherwise: date) -> str:
    return (otherwise if one.until is None else one.until.date()).isoformat()
