"""Values of the API's responses. Fields that a newer server adds are left out."""

from dataclasses import dataclass

from mailqueue.contract import sending
from mailqueue.contract.analytics import (
    AnalyticsHeatmap,
    AnalyticsOverview,
    AnalyticsProviders,
    AnalyticsTemplate,
    AnalyticsTemplates,
    AnalyticsTimeseries,
)
from mailqueue.contract.automation.ab_tests import (
    AbTest,
    AbTestRecipient,
    AbTestResults,
    AbTestVariant,
)
from mailqueue.contract.automation.inbox import EventOutcome
from mailqueue.contract.automation.schedules import (
    CancelledRun,
    NextRuns,
    Schedule,
    ScheduleEstimate,
    ScheduleRun,
    SkippedRun,
)
from mailqueue.contract.automation.sequences import (
    ContactSequence,
    ContactSequences,
    DoneStep,
    Enrolled,
    EnrolledList,
    Enrollment,
    EnrollmentDetail,
    SequenceCounts,
    StepCounts,
)
from mailqueue.contract.automation.timed_events import PutTimedEvent, TimedEvent
from mailqueue.contract.background import DataImport
from mailqueue.contract.contacts import (
    ChangedMembers,
    Contact,
    ContactDetail,
    ImportedContacts,
    ListCount,
    RemovedContact,
)
from mailqueue.contract.emails import (
    Acted,
    Attempt,
    Email,
    Event,
    ListedEmail,
    Moment,
    Recipient,
)
from mailqueue.contract.exports import DataExport
from mailqueue.contract.page import Page
from mailqueue.contract.sending import Batch, BatchResult, BatchState, Uploaded
from mailqueue.contract.suppression import (
    AddedSuppression,
    CheckedSuppression,
    RemovedSuppression,
    Suppression,
)
from mailqueue.contract.templates import Preview, Template, TemplateVersion

__all__ = [
    "AbTest",
    "AbTestRecipient",
    "AbTestResults",
    "AbTestVariant",
    "Acted",
    "AddedSuppression",
    "AnalyticsHeatmap",
    "AnalyticsOverview",
    "AnalyticsProviders",
    "AnalyticsTemplate",
    "AnalyticsTemplates",
    "AnalyticsTimeseries",
    "Attempt",
    "Batch",
    "BatchResult",
    "BatchState",
    "CancelledRun",
    "ChangedMembers",
    "CheckedSuppression",
    "Contact",
    "ContactDetail",
    "ContactSequence",
    "ContactSequences",
    "DataExport",
    "DataImport",
    "DoneStep",
    "Email",
    "Enrolled",
    "EnrolledList",
    "Enrollment",
    "EnrollmentDetail",
    "Event",
    "EventOutcome",
    "ImportedContacts",
    "ListCount",
    "ListedEmail",
    "Moment",
    "NextRuns",
    "Page",
    "Preview",
    "PutTimedEvent",
    "Recipient",
    "RemovedContact",
    "RemovedSuppression",
    "Schedule",
    "ScheduleEstimate",
    "ScheduleRun",
    "Sent",
    "SequenceCounts",
    "SkippedRun",
    "StepCounts",
    "Suppression",
    "Template",
    "TemplateVersion",
    "TimedEvent",
    "Uploaded",
]


@dataclass(frozen=True, slots=True)
class Sent(sending.Sent):
    """Result of queuing an email: queued, or suppressed with the reason."""

    is_repeated: bool = False
    """Whether an earlier request under the same key brought it."""
