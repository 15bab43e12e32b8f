-- How many contacts mail to a list goes to, and its end before all of it is made.

CREATE OR REPLACE FUNCTION mailqueue.stop_list_sends(p_project uuid, p_batch uuid, p_by text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.list_sends AS s SET stopped_by = coalesce(left(p_by, 200), session_user)
     WHERE s.project_id = p_project AND s.batch_id = p_batch AND s.status IN ('pending', 'assigned')
       AND s.stopped_by IS NULL AND coalesce(mailqueue.mode(), s.is_test) = s.is_test;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.stop_list_sends(uuid, uuid, text) IS
    'Make no more mail of a batch for contacts of lists; returns the number of lists.';

-- Whether an address is suppressed costs a hash of each: that is counted for the first p_most contacts.
CREATE OR REPLACE FUNCTION mailqueue.count_list(p_project uuid, p_list text, p_category text DEFAULT 'transactional',
    p_most integer DEFAULT 10000,
    OUT contacts bigint, OUT pending bigint, OUT checked bigint, OUT suppressed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    l mailqueue.contact_lists;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    l := mailqueue.find_list(p_project, p_list, coalesce(mailqueue.mode(), false));
    SELECT count(*), count(*) FILTER (WHERE m.n <= p_most),
           count(*) FILTER (WHERE m.n <= p_most
                            AND CASE WHEN m.n <= p_most THEN mailqueue.suppressed(p_project, m.email, p_category) END
                                IS NOT NULL)
      INTO contacts, checked, suppressed
      FROM (SELECT x.email, row_number() OVER (ORDER BY x.id) AS n
              FROM mailqueue.list_members(p_project, l.id, NULL, NULL) AS x) AS m;
    SELECT count(*) INTO pending FROM mailqueue.contact_list_members AS m WHERE m.list_id = l.id AND m.is_pending;
END $$;
COMMENT ON FUNCTION mailqueue.count_list(uuid, text, text, integer) IS
    'Number of contacts that mail to a list would go to; of those that have not confirmed yet, who get none; and how '
    'many of the first contacts that were checked are suppressed in a category.';
