"""The variables of paths: what each of them names, and which are UUIDs."""

from collections.abc import Mapping

UUIDS = frozenset(
    (
        "batch_id",
        "operation_id",
        "schedule_id",
        "email_id",
        "enrollment_id",
        "event_id",
        "key_id",
        "webhook_id",
        "delivery_id",
        "inbox_user_id",
        "inbox_id",
        "channel_id",
        "filter_rule_id",
        "notification_id",
    )
)
ABOUT_BY_VARIABLE: Mapping[str, str] = {
    "pid": "Id or name of the key's own project, such as `default`.",
    "id": "Id or slug of the project.",
    "batch_id": "Id of the batch, from the response that accepted it.",
    "operation_id": "Id of the operation.",
    "export_id": "Id of an export.",
    "schedule_id": "Id of the schedule, from the response that added it.",
    "number": "Number of the run, from 1.",
    "email_id": "Id of the email, from the response that accepted it.",
    "key_id": "Id of the key, from the list of keys; not the key itself.",
    "config_id": "Id of the sender account, from the list of accounts; its number, which earlier "
    "versions answered as `id`, is accepted, too.",
    "email_hash": "Hash of the address, `email_hash` in the list, or the address itself.",
    "email": "Address of a recipient.",
    "slug": "Slug of the category, as used in emails.",
    "template": "Id or slug of the template, such as `welcome`.",
    "version": "Id or number of the version, such as `3`.",
    "name": "Name of the layout or partial, such as `footer`, or of the user.",
    "webhook_id": "Id of the webhook, from the list of webhooks.",
    "tracking_key": "Id of the key, from the list of keys that sign links.",
    "enrollment_id": "Id of the enrollment.",
    "sequence": "Name of the sequence, such as `onboarding`.",
    "event_id": "Message id of the event, as its sender chose it.",
    "letter_id": "Id of the dead letter.",
    "contact": "Id or address of the contact.",
    "list": "Name of the list, such as `news`.",
    "rule": "Name of the event rule, such as `order-placed`.",
    "timed_event_id": "Id of the timed event.",
    "outbox": "Name of the outbox, such as `orders`.",
    "login": "Name of a PostgreSQL role that can log in.",
    "delivery_id": "Id of the delivery, from the log of its webhook.",
    "inbox_user_id": "Id of the inbox user, from the list of inbox users.",
    "inbox_id": "Id of the watched inbox, from the list of inboxes.",
    "channel_id": "Id of the channel, from the list of channels.",
    "filter_rule_id": "Id of the filter rule, from the list of filter rules.",
    "notification_id": "Id of the notification, from the list of notifications.",
}
