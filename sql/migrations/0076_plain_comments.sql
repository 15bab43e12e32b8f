-- 0076_plain_comments.sql
-- Adds:    comments on tables and columns, in other words
-- Running workers: not affected
-- Locks:   each table for an instant, against other changes of the schema only

COMMENT ON COLUMN mailqueue.api_keys.rotated_at IS
    'Time at which another key took over the name; until expires_at both are valid.';
COMMENT ON COLUMN mailqueue.archives.store IS
    'URL of the folder or bucket that path is in. After moving a whole store, change it by UPDATE and run '
    'mailqueue archive verify.';
COMMENT ON COLUMN mailqueue.bounce_list.bounce_reason IS 'Text of the most severe bounce, the latest of these.';
COMMENT ON COLUMN mailqueue.data_keys.made_under IS
    'Id of the master key under which this key was created; a rotation replaces keys of earlier master keys.';
COMMENT ON COLUMN mailqueue.data_keys.wrapped_by IS
    'platform: encrypted by the master key in master_key_id; own: by a key that only the project has, whose id is '
    'there too.';
COMMENT ON COLUMN mailqueue.email_contents.header_recipients IS
    'To and Cc of the header as {"to": ["Ann <ann@example.com>"], "cc": []}, if a message to many recipients was '
    'split into several mails; NULL: the recipients of the mail.';
COMMENT ON COLUMN mailqueue.email_contents.template_version_id IS
    'Template version from which each mail is rendered, with the variables in its custom_data; subject is then '
    'the template''s.';
COMMENT ON COLUMN mailqueue.email_queue.is_test IS
    'Whether a test key submitted the mail. Never changed; such mail is in lanes of the route (test), whose only '
    'accounts are traps.';
COMMENT ON COLUMN mailqueue.erasures.status IS 'State in the queue of erasures; done: the erasure is complete.';
COMMENT ON COLUMN mailqueue.lanes.home_route IS
    'Route that the mail came from, if the lane holds mail of a paused campaign or domain, or mail to a domain '
    'with a rate.';
COMMENT ON COLUMN mailqueue.lanes.rule_id IS
    'Routing rule of the lane''s mail; once the rule is removed, its mail uses the accounts of mail without a '
    'rule.';
COMMENT ON COLUMN mailqueue.limits.circuit_held_until IS
    'Time until which no further mail probes the circuit: the outcome of the last probe may not be written yet.';
COMMENT ON COLUMN mailqueue.limits.failures IS
    'Number of times in a row that the circuit of a sender account opened, or stayed open after a probe.';
COMMENT ON COLUMN mailqueue.limits.locked_from IS
    'For a project with its own key: time from which its secrets cannot be opened and its mail waits.';
COMMENT ON COLUMN mailqueue.maintenance_tasks.every IS
    'Wait from the end of a run to the next one; may be changed by UPDATE.';
COMMENT ON COLUMN mailqueue.projects.bounce_domain IS
    'Domain whose mail reaches the bounce listener: mail sent by SMTP has a signed return path of its own there.';
COMMENT ON COLUMN mailqueue.projects.deleted_at IS
    'Time of deletion: the project accepts and sends no mail and has no valid keys. Its name stays taken, because '
    'its records refer to it.';
COMMENT ON COLUMN mailqueue.projects.is_dkim_required IS
    'Whether mail waits while no active DKIM key signs for its From domain, instead of being sent unsigned.';
COMMENT ON COLUMN mailqueue.projects.resend_elsewhere IS
    'Whether mail with an unknown outcome may be sent again by another sender account; otherwise only by the same '
    'one.';
COMMENT ON COLUMN mailqueue.projects.track_clicks IS 'Default of click tracking: links are replaced by tracked ones.';
COMMENT ON COLUMN mailqueue.projects.track_opens IS 'Default of open tracking: the mail contains a tracking pixel.';
COMMENT ON COLUMN mailqueue.sender_accounts.provider_settings IS
    'Settings of the provider by name, as in docs/providers.md; not for secrets.';
COMMENT ON COLUMN mailqueue.sender_accounts.rates_from IS
    'Time at which an account paused for its rates was resumed; its rates are counted from then.';
COMMENT ON COLUMN mailqueue.sender_accounts.smtp_password IS
    'Encrypted: the password; for a provider with an HTTP API the key, or a document with several secrets.';
COMMENT ON COLUMN mailqueue.sender_accounts.smtp_username IS
    'User name of the login; for a provider with an HTTP API the id of the key, or the mailbox.';
COMMENT ON COLUMN mailqueue.sender_failures.domain IS
    'Domain of the recipient; NULL: no mail was attempted, or it is unknown whether the refusal concerns the '
    'account.';
COMMENT ON COLUMN mailqueue.template_texts.project_id IS 'Project of the template; NULL: a template of the platform.';
COMMENT ON COLUMN mailqueue.template_versions.project_id IS
    'Project of the template; NULL: a template of the platform.';
COMMENT ON COLUMN mailqueue.webhooks.disabled_reason IS
    'operator: disabled by an operator; gone: the endpoint answered 410; failing: it failed for as long as the '
    'setting webhook_give_up; removed.';
COMMENT ON TABLE mailqueue.accepted_days IS
    'Number of mails accepted by each project on each day (UTC), from counts that the accepting transactions '
    'wrote. mailqueue verify compares them with the outcomes.';
COMMENT ON TABLE mailqueue.address_keys IS
    'Keys by which projects hash addresses, deleted with the project: an address has a different hash in each '
    'project.';
COMMENT ON TABLE mailqueue.administrators IS
    'Administrators of the HTTP API with a token created here. Only hashes are stored. A name is never used '
    'again, because the audit log refers to it.';
COMMENT ON TABLE mailqueue.attachments IS
    'Files of mail. Equal files of a project are stored once a month, however many mails carry them.';
COMMENT ON TABLE mailqueue.audit_events IS
    'Audit log: who changed what. Rows are only added, except that the count of an operation in batches is '
    'updated.';
COMMENT ON TABLE mailqueue.batches IS 'Mails that were accepted by one request: one row for each request.';
COMMENT ON TABLE mailqueue.book_checks IS
    'Time and result of the last complete comparison of the books. One row, written by mailqueue verify.';
COMMENT ON TABLE mailqueue.bounce_list IS
    'Addresses that bounced or complained. Hard bounces and complaints suppress the address.';
COMMENT ON TABLE mailqueue.data_keys IS
    'Keys that encrypt the secrets of each project, themselves encrypted by the master key, which is not in the '
    'database.';
COMMENT ON TABLE mailqueue.dkim_keys IS
    'DKIM keys of projects. A new key is pending until its DNS record is found; then its predecessor is retired, '
    'whose record stays in DNS while mail signed by it may be on its way.';
COMMENT ON TABLE mailqueue.domain_checks IS 'Results of DNS checks of domains: SPF, DKIM, DMARC, MX and reverse name.';
COMMENT ON TABLE mailqueue.domain_rates IS
    'Maximum rates to recipient domains, over all projects and workers. Subdomains have rates of their own.';
COMMENT ON TABLE mailqueue.email_contents IS
    'Subject, bodies and options of mail, written once and never changed. Mails of one batch share a row.';
COMMENT ON TABLE mailqueue.email_events IS
    'Events of mails: their outcome, and reports about them (delivered, bounced, opened, …). Attempts are in '
    'send_logs. Partitioned by month.';
COMMENT ON TABLE mailqueue.erasures IS
    'Erasures of persons. The address is stored until the erasure is complete, then only its hash.';
COMMENT ON TABLE mailqueue.event_keys IS
    'Ids of recorded events by their source, so that none is recorded twice. About 90 bytes each, kept longer '
    'than the mail.';
COMMENT ON TABLE mailqueue.idempotency_keys IS
    'Idempotency keys of accepted mail: a second request with the key gets the same email, or is refused if its '
    'content differs.';
COMMENT ON TABLE mailqueue.idempotent_answers IS
    'Stored responses of requests with an Idempotency-Key, for 24 hours. Keys of POST /v1/send are in '
    'idempotency_keys.';
COMMENT ON TABLE mailqueue.inbound_endpoints IS 'Webhook URLs of providers, one for each sender account and provider.';
COMMENT ON TABLE mailqueue.inbound_events IS
    'Verified requests of providers until they are processed, and bounce mail. processed: all events are recorded '
    'or not relevant; unmatched: no mail was found within days; failed: the request could not be read.';
COMMENT ON TABLE mailqueue.key_grants IS
    'Data keys of projects with their own key, for as long as the project is unlocked; deleted afterwards.';
COMMENT ON TABLE mailqueue.lane_classes IS 'Virtual clock of each priority; a lane that fills again starts from it.';
COMMENT ON TABLE mailqueue.lane_gather IS 'Position from which gather_lanes() reads signals. One row.';
COMMENT ON TABLE mailqueue.lanes IS
    'Queues of one project, priority and route each. A lane is ready, or blocked as a whole until a time for a '
    'reason; blocked lanes cost nothing.';
COMMENT ON TABLE mailqueue.limit_days IS 'Counters of past days.';
COMMENT ON TABLE mailqueue.notices IS
    'Notices for the administrators of a project: complaints, and accounts with high bounce or complaint rates.';
COMMENT ON TABLE mailqueue.project_usage_changes IS
    'Changes of what projects use since the last count_usage(), inserted by the transactions that made them. No '
    'row is updated, so transactions never wait for each other.';
COMMENT ON TABLE mailqueue.providers IS
    'Allowed providers of sender accounts. Maintained by mailqueue migrate: manual changes are undone.';
COMMENT ON TABLE mailqueue.rate_signals IS
    'Sender accounts with bounces or complaints since their rates were last checked; consumed by watch_rates().';
COMMENT ON TABLE mailqueue.refusals IS
    'Reasons for which no mail is accepted now; normally empty. Checked whenever mail is accepted; sending '
    'continues. An operator may insert and delete a row.';
COMMENT ON TABLE mailqueue.request_buckets IS
    'Remaining requests of keys and projects. API processes lease some at a time. Losing the table costs nothing.';
COMMENT ON TABLE mailqueue.retained_kinds IS
    'Kinds of records with retention; the days are in retention_rules. Maintained by mailqueue migrate: manual '
    'changes are undone.';
COMMENT ON TABLE mailqueue.retention_rules IS
    'Days for which records are kept: hot in the table, then warm and cold in archive files, then deleted. '
    'keep_days = hot_days: no archive. The view retention shows the rule of each project.';
COMMENT ON TABLE mailqueue.retry_ladders IS
    'Retry schedules of projects. Without a row: 1, 5, 15, 60 minutes, then hourly; soft bounces after a day, '
    'three times.';
COMMENT ON TABLE mailqueue.routing_rules IS
    'Rules that choose the sender accounts of mail that names none, by category, tag and recipient domain. The '
    'first matching rule applies.';
COMMENT ON TABLE mailqueue.schema_migrations IS
    'Applied migration files with the hash of each; an applied file never changes.';
COMMENT ON TABLE mailqueue.schema_objects IS
    'Files of functions, views and grants as last applied; all are applied again when one changes.';
COMMENT ON TABLE mailqueue.send_intents IS
    'Mail that each worker may be handing over now, written before its first byte is sent. Mail without a row '
    'here was certainly not sent.';
COMMENT ON TABLE mailqueue.sender_accounts IS
    'Identities that mail is sent as, with encrypted credentials and limits. The view sender_headroom shows what '
    'they may still send today.';
COMMENT ON TABLE mailqueue.sender_failures IS
    'Failures of the last day that concern a sender account or its server, not a recipient; they open its '
    'circuit. At most 1,000 for each account.';
COMMENT ON TABLE mailqueue.space_reports IS
    'Free disk space of the server, as reported by processes on its host. Reports older than two minutes are '
    'ignored.';
COMMENT ON TABLE mailqueue.subscription_categories IS
    'Categories of mail in the preference centre of a project; recipients may unsubscribe from those that are not '
    'required.';
COMMENT ON TABLE mailqueue.subscription_preferences IS
    'Last choice of each recipient for a category: when and by which means. Its effect is in suppressions.';
COMMENT ON TABLE mailqueue.suppression_history IS
    'Suppressions that were removed or replaced, with the author and the reason.';
COMMENT ON TABLE mailqueue.suppression_lines IS
    'Target of COPY for lists of addresses. The transaction that copies lines also deletes them, so no row is '
    'ever visible to others.';
COMMENT ON TABLE mailqueue.suppressions IS
    'Addresses that a project does not send to, and why. Checked when mail is accepted and again right before it '
    'is sent.';
COMMENT ON TABLE mailqueue.system_settings IS
    'Settings of the installation: thresholds of health and of refusing mail, bounds of projects, and flags (on, '
    'off). Change one by UPDATE of value; it takes effect at once.';
COMMENT ON TABLE mailqueue.template_parts IS
    'Layouts and partials that templates share. A version keeps the parts it was created with.';
COMMENT ON TABLE mailqueue.template_texts IS 'Subject and bodies of a template version in each language.';
COMMENT ON TABLE mailqueue.template_versions IS
    'Versions of templates. Their content never changes, only their status.';
COMMENT ON TABLE mailqueue.templates IS 'Templates by name. Each has numbered versions, one of which is published.';
COMMENT ON TABLE mailqueue.tracked_links IS
    'Targets of tracked links. Mail contains the hash; the target is stored before the mail is handed over.';
COMMENT ON TABLE mailqueue.tracking_keys IS
    'Keys that sign the tokens in links. Each project has one for new tokens; earlier keys still open theirs.';
COMMENT ON TABLE mailqueue.trap_messages IS 'Mail caught by the built-in trap, unchanged.';
COMMENT ON TABLE mailqueue.unsubscribe_list IS
    'Persons who unsubscribed, from a category or from all mail. Each row suppresses the address, for queued mail '
    'too.';
COMMENT ON TABLE mailqueue.usage_carries IS
    'Sums of signals of projects with bounds, written by producers while no worker gathers, so that not each of '
    'them reads all signals.';
COMMENT ON TABLE mailqueue.usage_counts IS 'Time of the last count of project_usage. One row.';
COMMENT ON TABLE mailqueue.waiters IS
    'Idle workers that wait for a NOTIFY. While it is empty, commits send none and take no notify lock.';
COMMENT ON TABLE mailqueue.webhook_attempts IS 'Requests to webhook endpoints: response and duration of each.';
COMMENT ON TABLE mailqueue.webhook_deliveries IS
    'Deliveries: one event for one webhook, and afterwards their log. At least once; the order is not promised.';
COMMENT ON TABLE mailqueue.webhook_events IS 'Events for webhooks, stored once however many webhooks receive them.';
COMMENT ON TABLE mailqueue.webhooks IS 'Endpoints to which projects have events sent, and the state of each.';
