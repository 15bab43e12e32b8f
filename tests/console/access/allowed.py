"""Which roles may see each page with a right; written here once more, so that a slip is found."""

EVERY_ROLE = ("superadmin", "project_admin", "support", "viewer")
ALLOWED = {
    "/console/dashboard": {"superadmin"},  # of the roles of this file, the one that sees all
    "/console/dashboard/live": {"superadmin"},
    **{
        f"/console/infrastructure{end}": {"superadmin"}
        for end in ("", "/live", "/pause", "/resume", "/drain")
    },
    "/console/projects/{project}/broker": {*EVERY_ROLE},
    "/console/projects/{project}/routes": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/routes/{act}": {"superadmin", "project_admin"}
        for act in ("new", "{route_id}/remove")
    },
    "/console/projects/{project}/broker/{letter_id}": {"superadmin", "project_admin", "support"},
    **{
        f"/console/projects/{{project}}/broker/{act}": {"superadmin", "project_admin"}
        for act in ("replay", "{letter_id}/replay")
    },
    **{f"/console/projects/{{project}}/outboxes{end}": {*EVERY_ROLE} for end in ("", "/{outbox}")},
    **{
        f"/console/projects/{{project}}/outboxes/{act}": {"superadmin", "project_admin"}
        for act in ("~new", "{outbox}/change", "{outbox}/skip", "{outbox}/remove")
    },
    **{f"/console/platform{end}": {"superadmin"} for end in ("", "/change")},
    "/console/projects/{project}/pauses": {*EVERY_ROLE},
    "/console/projects/{project}/pauses/new": {"superadmin", "project_admin"},
    "/console/projects/{project}/pauses/end": {"superadmin", "project_admin"},
    "/console/projects/{project}/incidents": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/incidents/{verb}": {"superadmin", "project_admin"}
        for verb in ("move", "requeue")
    },
    "/console/projects/{project}/incidents/hold": {"superadmin", "project_admin"},
    "/console/projects/{project}/incidents/release": {"superadmin", "project_admin"},
    "/console/projects/{project}/incidents/cancel": {"superadmin", "project_admin"},
    "/console/projects/{project}/incidents/operations/{operation_id}": {*EVERY_ROLE},
    "/console/projects/{project}/incidents/operations/{operation_id}/stop": {
        "superadmin",
        "project_admin",
    },
    **{f"/console/projects/{{project}}/activity{end}": {*EVERY_ROLE} for end in ("", "/live")},
    **{f"/console/users{end}": {"superadmin"} for end in ("", "/sessions", "/add")},
    **{
        f"/console/users/one/{{user}}{end}": {"superadmin"}
        for end in ("", "/change", "/link", "/remove", "/reset")
    },
    **{
        f"/console/projects/{{project}}/senders/{{sender}}/{act}": {"superadmin", "project_admin"}
        for act in ("try", "change", "server", "key", "activate", "prefer", "remove")
    },
    "/console/projects/{project}/members": {"superadmin", "project_admin"},
    "/console/projects/{project}/members/invite": {"superadmin", "project_admin"},
    "/console/projects/{project}/members/one/{member}/remove": {"superadmin", "project_admin"},
    "/console/projects/{project}/emails": {*EVERY_ROLE},
    "/console/projects/{project}/emails/{email_id}": {*EVERY_ROLE},
    "/console/projects/{project}/emails/live": {*EVERY_ROLE},
    "/console/projects/{project}/emails/suggestions": {*EVERY_ROLE},
    "/console/projects/{project}/emails/{email_id}/live": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/emails/{{email_id}}/message{end}": {
            "superadmin",
            "project_admin",
            "support",
        }
        for end in ("", "/html", "/download", "/files/{number}")
    },
    **{
        f"/console/projects/{{project}}/emails/{{email_id}}/{act}": {"superadmin", "project_admin"}
        for act in ("move", "was_sent", "was_not_sent", "cancel", "hold", "release")
    },
    "/console/projects/{project}/emails/{email_id}/resend": {
        "superadmin",
        "project_admin",
        "support",
    },
    "/console/recipient": {*EVERY_ROLE},
    "/console/projects/{project}/recipient": {*EVERY_ROLE},
    "/console/projects/{project}/recipient/erasure": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/recipient/{act}": {"superadmin", "project_admin"}
        for act in ("suppress", "lift", "export", "erase")
    },
    **{
        f"/console/projects/{{project}}/templates{end}": {*EVERY_ROLE}
        for end in (
            "",
            "/{template}",
            "/{template}/compare",
            "/{template}/preview",
            "/{template}/preview/html",
            "/parts",
            "/parts/{part_id}",
            "/pictures",
            "/pictures/{picture_id}",
            "/pictures/{picture_id}/file",
        )
    },
    **{
        f"/console/projects/{{project}}/templates{end}": {"superadmin", "project_admin"}
        for end in (
            "/new",
            "/{template}/change",
            "/{template}/version",
            "/{template}/copy",
            "/{template}/remove",
            "/parts/new",
            "/parts/{part_id}/change",
            "/parts/{part_id}/remove",
            "/pictures/new",
            "/pictures/{picture_id}/remove",
        )
    },
    **{
        f"/console/projects/{{project}}/templates/{{template}}/versions/{{version}}/{act}": {
            "superadmin",
            "project_admin",
        }
        for act in ("publish", "archive", "test")
    },
    **{
        f"/console/templates{end}": {"superadmin"}
        for end in (
            "",
            "/new",
            "/{platform_template}",
            "/{platform_template}/change",
            "/{platform_template}/version",
            "/{platform_template}/compare",
            "/{platform_template}/preview",
            "/{platform_template}/preview/html",
            "/{platform_template}/versions/{version}/publish",
            "/{platform_template}/versions/{version}/archive",
            "/{platform_template}/copy",
            "/{platform_template}/remove",
            "/parts",
            "/parts/new",
            "/parts/{platform_part}",
            "/parts/{platform_part}/change",
            "/parts/{platform_part}/remove",
        )
    },
    "/console/audit": {"superadmin"},
    "/console/audit/{event_id}": {"superadmin"},
    "/console/projects/{project}/audit": {"superadmin", "project_admin"},
    "/console/projects/{project}/audit/{event_id}": {"superadmin", "project_admin"},
    "/console/new-project": {"superadmin"},
    "/console/projects/{project}/suspend": {"superadmin"},
    "/console/projects/{project}/activate": {"superadmin"},
    "/console/projects/{project}/overview": {*EVERY_ROLE},
    "/console/projects/{project}/senders": {*EVERY_ROLE},
    "/console/projects/{project}/senders/{sender}": {*EVERY_ROLE},
    "/console/projects/{project}/settings": {*EVERY_ROLE},
    "/console/projects/{project}/settings/change": {"superadmin"},
    "/console/projects/{project}/settings/texts": {*EVERY_ROLE},
    "/console/projects/{project}/settings/texts/{language}": {"superadmin"},
    "/console/projects/{project}/setup": {"superadmin", "project_admin"},
    "/console/projects/{project}/setup/sender": {"superadmin", "project_admin"},
    "/console/projects/{project}/setup/try": {"superadmin", "project_admin"},
    "/console/projects/{project}/setup/send": {"superadmin", "project_admin"},
    "/console/projects/{project}/keys": {"superadmin", "project_admin"},
    "/console/projects/{project}/keys/new": {"superadmin", "project_admin"},
    "/console/projects/{project}/keys/{key_id}": {"superadmin", "project_admin"},
    "/console/projects/{project}/keys/{key_id}/rotate": {"superadmin", "project_admin"},
    "/console/projects/{project}/keys/{key_id}/revoke": {"superadmin", "project_admin"},
    "/console/projects/{project}/webhooks": {*EVERY_ROLE},
    "/console/projects/{project}/webhooks/{webhook_id}": {*EVERY_ROLE},
    "/console/projects/{project}/webhooks/{webhook_id}/deliveries/{delivery_id}": {
        "superadmin",
        "project_admin",
        "support",
    },
    **{
        f"/console/projects/{{project}}/webhooks/{end}": {"superadmin", "project_admin"}
        for end in (
            "new",
            *(f"{{webhook_id}}/{act}" for act in ("change", "secret", "switch", "remove")),
            *(f"{{webhook_id}}/{act}" for act in ("test", "retry")),
            "{webhook_id}/deliveries/{delivery_id}/retry",
        )
    },
    **{
        f"/console/projects/{{project}}/{end}": {*EVERY_ROLE}
        for end in (
            "campaigns",
            "analytics",
            "ab-tests",
            "ab-tests/{ab_test_id}",
            "event-rules",
            "event-rules/{rule}",
            *(f"analytics/{tab}" for tab in ("templates", "providers", "hours")),
            "contacts",
            "contacts/{contact_id}",
            "lists",
            "lists/{list}",
            "calendar",
            "schedules",
            "schedules/{schedule_id}",
            "sequences",
            "sequences/{sequence}",
            "sequences/{sequence}/enrollments/{enrollment_id}",
            "timed-events",
            "timed-events/{timed_event_id}",
            "inbox-users",
            "inbox-users/{inbox_user_id}",
            "notifications",
            "notifications/{notification_id}",
        )
    },
    "/console/projects/{project}/notifications/{notification_id}/retry": {
        "superadmin",
        "project_admin",
        "support",
    },
    **{
        f"/console/projects/{{project}}/{end}": {"superadmin", "project_admin"}
        for end in (
            *(f"schedules/{{schedule_id}}/{act}" for act in ("pause", "resume", "run")),
            *(f"schedules/{{schedule_id}}/{act}" for act in ("skip", "cancel")),
            *(f"sequences/{{sequence}}/{act}" for act in ("pause", "resume")),
            "ab-tests/new",
            "event-rules/~new",
            *(
                f"event-rules/{{rule}}/{act}"
                for act in ("change", "enable", "pause", "remove", "try")
            ),
            *(f"ab-tests/{{ab_test_id}}/{act}" for act in ("recipients", "choose-{variant}")),
            "ab-tests/{ab_test_id}/cancel",
            "contacts/import",
            "contacts/new",
            *(f"contacts/{{contact_id}}/{act}" for act in ("change", "remove")),
            "lists/~new",
            *(f"lists/{{list}}/{act}" for act in ("import", "change", "add", "take-out", "remove")),
            "sequences/{sequence}/enrollments/{enrollment_id}/end",
            "timed-events/{timed_event_id}/cancel",
            "inbox-users/new",
            *(f"inbox-users/{{inbox_user_id}}/{act}" for act in ("invite", "pause", "resume")),
            *(
                f"inbox-users/{{inbox_user_id}}/{act}-inbox-{{inbox_id}}"
                for act in ("pause", "resume", "scan")
            ),
            "inbox-users/{inbox_user_id}/disconnect-{channel_id}",
        )
    },
    "/console/projects/{project}/exports": {*EVERY_ROLE},
    "/console/projects/{project}/exports/{export_id}": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/exports/{end}": {"superadmin", "project_admin", "support"}
        for end in ("new", "{export_id}/file", "{export_id}/delete")
    },
    "/console/projects/{project}/imports": {"superadmin", "project_admin"},
    "/console/projects/{project}/imports/{import_id}": {"superadmin", "project_admin"},
    "/console/projects/{project}/imports/{import_id}/cancel": {"superadmin", "project_admin"},
    "/console/projects/{project}/suppressions": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/suppressions/{end}": {"superadmin", "project_admin"}
        for end in ("add", "import", "export")
    },
    "/console/projects/{project}/domains": {*EVERY_ROLE},
    "/console/projects/{project}/domains/{domain}": {*EVERY_ROLE},
    **{
        f"/console/projects/{{project}}/domains/{end}": {"superadmin", "project_admin"}
        for end in (
            "new",
            "{domain}/check",
            "{domain}/rotate",
            "{domain}/keys/{dkim_key}/revoke",
        )
    },
}
