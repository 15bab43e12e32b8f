-- Circuits of keys of queues, such as the endpoints of webhooks: a key that keeps failing is set aside as a whole, and
-- then one row at a time probes it. docs/architecture.md has the words. Only a key in trouble has a row.

-- How long a circuit stays open after it opened that many times in a row.
CREATE OR REPLACE FUNCTION mailqueue.key_rest(p_openings integer) RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$ SELECT least(interval '30 s' * power(2, least(p_openings, 10) - 1), interval '10 min') $$;
COMMENT ON FUNCTION mailqueue.key_rest(integer) IS
    'How long the circuit of a failing key stays open before one row probes it.';

-- Inlined into the calling statement. The row is NULL for a key that has none.
CREATE OR REPLACE FUNCTION mailqueue.is_key_ready(k mailqueue.queue_keys, p_now timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(k.blocked_until <= p_now, true)
       AND (k.opened_at IS NULL OR coalesce(k.probing_until <= p_now, true))
$$;
COMMENT ON FUNCTION mailqueue.is_key_ready(mailqueue.queue_keys, timestamptz) IS
    'Whether rows of a key may be claimed at a point in time; of one with an open circuit, one row that probes it.';

-- If the worker of the probe dies, another may begin when the lease is over.
CREATE OR REPLACE FUNCTION mailqueue.begin_key_probe(p_queue text, p_key text, p_lease interval) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM FROM mailqueue.queue_keys AS k
      WHERE k.queue = p_queue AND k.key = p_key AND mailqueue.is_key_ready(k, v_now) FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.queue_keys AS k SET probing_until = v_now + p_lease WHERE k.queue = p_queue AND k.key = p_key;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.begin_key_probe(text, text, interval) IS
    'Reserve the probe of a key whose circuit is open; false where another worker has it, or it is blocked.';

-- Failures are those after the last success of the batch. Settlers call it in the order of keys, so that they cannot
-- deadlock.
CREATE OR REPLACE FUNCTION mailqueue.note_key(p_queue text, p_key text, p_has_success boolean, p_failures integer,
    p_pause interval, p_error text) RETURNS mailqueue.queue_keys
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 5;                            -- failures in a row that open a circuit
    v_now timestamptz := clock_timestamp();
    k mailqueue.queue_keys;
BEGIN
    IF p_has_success THEN
        DELETE FROM mailqueue.queue_keys AS o WHERE o.queue = p_queue AND o.key = p_key;
    END IF;
    IF p_failures = 0 AND p_pause IS NULL THEN
        UPDATE mailqueue.queue_keys AS o SET probing_until = NULL WHERE o.queue = p_queue AND o.key = p_key
        RETURNING o.* INTO k;
        RETURN k;
    END IF;
    INSERT INTO mailqueue.queue_keys AS o (queue, key) VALUES (p_queue, p_key)
    ON CONFLICT ON CONSTRAINT queue_keys_pkey DO UPDATE SET key = excluded.key  -- locks it
    RETURNING o.* INTO k;
    IF p_failures > 0 THEN
        k.failures := least(k.failures + p_failures, 1000000);
        k.failing_since := coalesce(k.failing_since, v_now);
        k.last_error := left(p_error, 1000);
        -- Results of rows that were being handled when it opened do not count.
        IF k.failures >= c_most AND coalesce(k.blocked_until <= v_now, true) THEN
            k.opened_at := coalesce(k.opened_at, v_now);
            k.openings := least(k.openings + 1, 1000);
            k.blocked_until := v_now + mailqueue.key_rest(k.openings) * (1 + random() * 0.1);
        END IF;
    END IF;
    k.probing_until := NULL;
    k.blocked_until := greatest(k.blocked_until, v_now + p_pause);
    UPDATE mailqueue.queue_keys AS o
       SET failures = k.failures, failing_since = k.failing_since, opened_at = k.opened_at, openings = k.openings,
           blocked_until = k.blocked_until, probing_until = NULL, last_error = k.last_error
     WHERE o.queue = p_queue AND o.key = p_key;
    RETURN k;
END $$;
COMMENT ON FUNCTION mailqueue.note_key(text, text, boolean, integer, interval, text) IS
    'Count what rows of a key ended with: a success ends its trouble, failures after it may open its circuit, p_pause '
    'was asked for. Returns the row of the key, NULL if it is well.';

CREATE OR REPLACE FUNCTION mailqueue.has_key_in_trouble(p_queue text) RETURNS boolean
LANGUAGE sql STABLE
AS $$ SELECT EXISTS (SELECT FROM mailqueue.queue_keys AS k WHERE k.queue = p_queue) $$;
COMMENT ON FUNCTION mailqueue.has_key_in_trouble(text) IS
    'Whether any key of a queue has failures or a pause: one step in an index for a batch in which all is well.';

CREATE OR REPLACE FUNCTION mailqueue.forget_key(p_queue text, p_key text) RETURNS void
LANGUAGE sql
AS $$ DELETE FROM mailqueue.queue_keys AS k WHERE k.queue = p_queue AND k.key = p_key $$;
COMMENT ON FUNCTION mailqueue.forget_key(text, text) IS
    'Forget the failures of a key, which was changed, enabled or removed.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.circuit_of(k mailqueue.queue_keys) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN k.opened_at IS NOT NULL AND k.blocked_until > clock_timestamp() THEN 'open'
                WHEN k.opened_at IS NOT NULL THEN 'half_open'
                WHEN k.blocked_until > clock_timestamp() THEN 'resting' ELSE 'closed' END
$$;
COMMENT ON FUNCTION mailqueue.circuit_of(mailqueue.queue_keys) IS
    'Circuit of a key: closed (rows are handled), open (set aside until blocked_until), half_open (one row probes it), '
    'resting (it asked for a pause).';

CREATE OR REPLACE FUNCTION mailqueue.list_queue_keys()
RETURNS TABLE (queue text, key text, subject text, project text, circuit text, failures integer,
               failing_since timestamptz, blocked_until timestamptz, last_error text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    SELECT k.queue, k.key, coalesce(w.url, k.key), p.name, mailqueue.circuit_of(k), k.failures, k.failing_since,
           k.blocked_until, k.last_error
      FROM mailqueue.queue_keys AS k
      LEFT JOIN mailqueue.webhooks AS w ON k.queue = 'webhooks' AND w.id::text = k.key
      LEFT JOIN mailqueue.projects AS p ON p.id = w.project_id
     WHERE (SELECT mailqueue.sees_all()) OR w.project_id = (SELECT mailqueue.tenant())
     ORDER BY k.queue, k.failing_since, k.key LIMIT 1000
$$;
COMMENT ON FUNCTION mailqueue.list_queue_keys() IS
    'Keys of queues that are in trouble, of each queue those first that have failed for longest; at most 1,000.';

-- In the words of the command why, the doctor and the console.
CREATE OR REPLACE FUNCTION mailqueue.key_words(k mailqueue.queue_keys, p_subject text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN k.opened_at IS NOT NULL AND k.blocked_until > clock_timestamp()
                     THEN format('%s kept failing since %s and is set aside until %s', p_subject,
                                 mailqueue.shown(k.failing_since), mailqueue.shown(k.blocked_until))
                WHEN k.opened_at IS NOT NULL
                     THEN format('%s kept failing since %s, and one row probes it', p_subject,
                                 mailqueue.shown(k.failing_since))
                WHEN k.blocked_until > clock_timestamp()
                     THEN format('%s asked for a pause until %s', p_subject, mailqueue.shown(k.blocked_until)) END
           || coalesce(' (' || left(k.last_error, 200) || ')', '')
$$;
COMMENT ON FUNCTION mailqueue.key_words(mailqueue.queue_keys, text) IS
    'Why rows of a key wait, in words; NULL if they do not.';

CREATE OR REPLACE FUNCTION mailqueue.key_wait(p_queue text, p_key text, p_subject text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT mailqueue.key_words(k, p_subject) FROM mailqueue.queue_keys AS k WHERE k.queue = p_queue AND k.key = p_key
$$;
COMMENT ON FUNCTION mailqueue.key_wait(text, text, text) IS
    'Why rows of the key of a queue wait, in words; NULL if they do not.';
