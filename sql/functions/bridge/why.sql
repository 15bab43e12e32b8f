-- What became of a message that did not become an event, as text, for mailqueue.why().

CREATE OR REPLACE FUNCTION mailqueue.why_dead_letter(p_id uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT string_agg(
               format('message from queue %s of project %s: %s', d.queue, p.name,
                      CASE d.status WHEN 'replayed' THEN 'replayed at ' || mailqueue.shown(d.replayed_at)
                           ELSE format('a dead letter since %s: %s; to read it again: mailqueue bridge replay --id %s '
                                       '--project %s', mailqueue.shown(d.created_at), d.reason, d.id,
                                       mailqueue.shell_word(p.name)) END), E'\n' ORDER BY d.id)
      FROM mailqueue.dead_letters AS d JOIN mailqueue.projects AS p ON p.id = d.project_id
     WHERE (d.id = p_id OR d.message_id = p_id) AND d.project_id = coalesce(mailqueue.tenant(), d.project_id)
       AND mailqueue.mode() IS NOT TRUE
$$;
COMMENT ON FUNCTION mailqueue.why_dead_letter(uuid) IS
    'What became of a message of a broker, by the id of its dead letter or its own; NULL if there is none.';
