"""Query parameters of counts. Values only."""

from typing import Annotated

from pydantic import Field

from mailqueue.analytics.model import StatsScope
from mailqueue.api.emails.schema import Instant, StorableText
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.projects.pauses import AnyProject
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.core.errors import InvalidField

Word = Annotated[StorableText, Field(min_length=1, max_length=300)]


class TimeQuery(RequestModel):
    """The time that an answer covers."""

    from_: Instant | None = Field(default=None, alias="from")
    """Start of the time; 30 days before its end if omitted."""
    to: Instant | None = None
    """End of the time; now if omitted."""
    timezone: Annotated[StorableText, Field(min_length=1, max_length=100)] | None = None
    """IANA time zone such as `Europe/Rome`; that of the project if omitted."""


class ValueQuery(TimeQuery):
    """The time that an answer covers, and one value that it is about."""

    campaign: Word | None = None
    """Only emails of this campaign. At most one such filter is possible."""
    template: Word | None = None
    """Only emails of this template, by id."""
    category: Word | None = None
    """Only emails of this category."""
    tag: Word | None = None
    """Only emails with this tag."""
    provider: Word | None = None
    """Only emails that this provider sent."""
    domain: Word | None = None
    """Only emails to this domain."""

    def scope(self, scope: StatsScope) -> StatsScope:
        """Return the scope of one value, or the whole.

        Raises:
            InvalidField: there are several filters.
        """
        asked = [
            (dimension, value)
            for dimension in Dimension
            if (value := getattr(self, dimension.value, None)) is not None
        ]
        if len(asked) > 1:
            raise InvalidField(asked[1][0].value, f"leave it out, or {asked[0][0].value}")
        if not asked:
            return scope
        return StatsScope(scope.project_id, scope.is_test, *asked[0])


class OverviewQuery(ValueQuery):
    """What an overview covers."""

    compare: bool = False
    """Whether to return the same of the time before too."""


class SeriesQuery(OverviewQuery):
    """What a series covers."""

    metric: Annotated[StorableText, Field(max_length=40)] = "sent"
    """The count: the name of one in an overview, such as `sent` or `unique_opens`."""
    bucket: Bucket = Bucket.DAY
    """Span of each point: `minute`, `hour`, `day`, `week` or `month` of the time zone."""
    group_by: Dimension | None = None
    """One series for each value of this, at most 20, and one of all others."""


class HeatmapQuery(ValueQuery):
    """What a heatmap covers."""

    metric: Annotated[StorableText, Field(max_length=40)] = "sent"
    """The count: the name of one in an overview, such as `sent` or `unique_opens`."""


class AllOverviewQuery(OverviewQuery):
    """What an overview of all projects, or of one, covers."""

    project: AnyProject | None = None
    """Only this project, by id or slug."""


class AllSeriesQuery(SeriesQuery):
    """What a series of all projects, or of one, covers."""

    project: AnyProject | None = None
    """Only this project, by id or slug."""


class AllTimeQuery(TimeQuery):
    """The time that an answer about all projects, or one, covers."""

    project: AnyProject | None = None
    """Only this project, by id or slug."""
