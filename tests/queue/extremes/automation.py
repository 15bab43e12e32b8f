"""Schedules with a run, and sequences with an enrollment."""

SEQUENCES = """
WITH one AS (
    INSERT INTO mailqueue.sequences (project_id, name, created_by, published_version)
    SELECT p, 'onboarding', 'tests', 1 FROM unnest(%s::uuid[]) AS p RETURNING id, project_id
), version AS (
    INSERT INTO mailqueue.sequence_versions (sequence_id, version, project_id, steps, created_by,
                                             published_at)
    SELECT o.id, 1, o.project_id, '[{"name": "one", "template": "welcome"}]', 'tests', now()
    FROM one AS o
)
INSERT INTO mailqueue.sequence_enrollments (project_id, sequence_id, contact_id, email, number,
    version, step, waiting_from, due_at, run_at, time_zone, zone_release, source)
SELECT o.project_id, o.id, c.id, c.email, 1, 1, 'one', now(), now() + interval '1 year',
       now() + interval '1 year', 'UTC', mailqueue.time_zone_release(), 'tests'
FROM one AS o JOIN mailqueue.contacts AS c ON c.project_id = o.project_id
"""

SCHEDULES = """
WITH made AS (
    INSERT INTO mailqueue.schedules (project_id, schedule_type, once_at, message, recipients,
                                     created_by, status, finished_at)
    SELECT p, 'once', now(), '{}', '[]', 'tests', 'completed', now() FROM unnest(%s::uuid[]) AS p
    RETURNING id, project_id
)
INSERT INTO mailqueue.schedule_runs (project_id, schedule_id, number, occurrence, status,
                                     finished_at)
SELECT m.project_id, m.id, 1, now(), 'done', now() FROM made AS m
"""
AB_TESTS = """
INSERT INTO mailqueue.ab_tests (project_id, name, is_test, options, requested_by, status,
                                finished_at)
SELECT p, 'spring', false, '{}', 'tests', 'cancelled', now() FROM unnest(%s::uuid[]) AS p
"""
