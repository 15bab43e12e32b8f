-- Which part of custom_data is searched. searched_data() and is_searched() are inlined, and then are the expression and
-- the condition of email_queue_custom_data_idx and email_history_custom_data_idx: change all together, or a search
-- reads all mail. See docs/decisions/0050-search-by-custom-data.md.

CREATE OR REPLACE FUNCTION mailqueue.searched_data(p_project uuid, p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    -- With the project, so that a search does not read what other projects store.
    SELECT jsonb_set(jsonb_path_query_first(p_data, 'strict $ ? (@.type() == "object")') - 'variables',
                     '{$project}', ('"' || p_project::text || '"')::jsonb)
$$;
COMMENT ON FUNCTION mailqueue.searched_data(uuid, jsonb) IS
    'The part of custom_data that is searched: an object with the project and without the variables of a template; '
    'NULL if it is not an object.';

CREATE OR REPLACE FUNCTION mailqueue.is_searched(p_data jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_data IS NOT NULL
           AND length((jsonb_path_query_first(p_data, 'strict $ ? (@.type() == "object")') - 'variables')::text)
               BETWEEN 3 AND 2000
$$;
COMMENT ON FUNCTION mailqueue.is_searched(jsonb) IS
    'Whether mail is found by its custom_data: it has some, of at most 2,000 characters without template variables.';

-- What attempts keep of it is bounded as the index is: a mail may have 64 KiB, and many attempts.
CREATE OR REPLACE FUNCTION mailqueue.attempt_data(p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN mailqueue.is_searched(p_data) THEN p_data - 'variables' END
$$;
COMMENT ON FUNCTION mailqueue.attempt_data(jsonb) IS
    'The part of custom_data that send_logs keeps: the object without the variables of a template; NULL where it is '
    'not searched.';
