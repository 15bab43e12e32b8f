-- The template that a queued email is rendered from, for the tests of applications.

CREATE OR REPLACE FUNCTION mailqueue.template_of(p_email uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT t.slug
      FROM mailqueue.email_queue AS q
      JOIN mailqueue.email_contents AS c ON c.id = q.content_id AND c.created_on = q.content_on
      JOIN mailqueue.template_versions AS v ON v.id = c.template_version_id
      JOIN mailqueue.templates AS t ON t.id = v.template_id
     WHERE q.id = p_email AND ((SELECT mailqueue.sees_all()) OR q.project_id = (SELECT mailqueue.tenant()))
$$;
COMMENT ON FUNCTION mailqueue.template_of(uuid) IS
    'Slug of the template of a queued email; NULL: it has none, or is not queued.';
