-- The turn of ordered mail: the first of a key has it until it is finished.

-- Mail that failed or expired keeps its place where its project says that it blocks; after any other end, and where the
-- row was deleted, the next mail has its turn.
CREATE OR REPLACE FUNCTION mailqueue.email_queue_ordered() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_blocks boolean := (SELECT p.ordering_on_failure = 'block' FROM mailqueue.projects AS p
                          WHERE p.id = OLD.project_id);
    v_status text;
BEGIN
    IF v_blocks THEN
        v_status := (SELECT h.status FROM mailqueue.email_history AS h WHERE h.id = OLD.id
                      ORDER BY h.finished_at DESC LIMIT 1);
        IF v_status IN ('failed', 'expired') THEN
            WITH kept AS (
                UPDATE mailqueue.email_order AS o SET blocked_by = v_status WHERE o.email_id = OLD.id
                RETURNING o.project_id, o.order_key
            )
            -- The project may be changed to continue at this moment, by a transaction that does not see this one.
            INSERT INTO mailqueue.order_signals (project_id, order_key) SELECT k.project_id, k.order_key FROM kept AS k;
            RETURN NULL;
        END IF;
    END IF;
    WITH gone AS (
        DELETE FROM mailqueue.email_order AS o WHERE o.email_id = OLD.id RETURNING o.project_id, o.order_key
    )
    INSERT INTO mailqueue.order_signals (project_id, order_key) SELECT g.project_id, g.order_key FROM gone AS g;
    PERFORM mailqueue.wake_workers();
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_ordered() IS
    'AFTER DELETE of an ordered mail from the queue: the next of its key may have its turn.';

CREATE OR REPLACE TRIGGER email_queue_ordered AFTER DELETE ON mailqueue.email_queue
    FOR EACH ROW WHEN (OLD.is_ordered) EXECUTE FUNCTION mailqueue.email_queue_ordered();

-- For gather_lanes(), by one process at a time. Waits for no lock: a key whose first mail another transaction has
-- locked is looked at again, as is one with an open writer. Writers are read before the first mail is: one that ends
-- in between has committed what it inserted. Only the writers that were open when a mail was first seen may have an
-- earlier place; later ones take later places.
CREATE OR REPLACE FUNCTION mailqueue.release_ordered(p_now timestamptz) RETURNS integer
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_projects uuid[]; v_keys uuid[];
    v_open jsonb;                                            -- open writers by project
    v_writers text[];
    v_again timestamptz := p_now + interval '200 ms';
    v_count integer := 0;
    s record; h record; q record;
BEGIN
    WITH gone AS (
        DELETE FROM mailqueue.order_signals AS d
         WHERE d.ctid = ANY (ARRAY(SELECT o.ctid FROM mailqueue.order_signals AS o WHERE o.look_at <= p_now
                                    ORDER BY o.look_at LIMIT 1000))
        RETURNING d.project_id, d.order_key
    ), keys AS (
        SELECT DISTINCT g.project_id, g.order_key FROM gone AS g
    )
    SELECT array_agg(k.project_id), array_agg(k.order_key) INTO v_projects, v_keys FROM keys AS k;
    v_open := (SELECT jsonb_object_agg(w.project_id, w.writers)
                 FROM mailqueue.open_writers(ARRAY(SELECT DISTINCT p FROM unnest(v_projects) AS p)) AS w);
    FOR s IN SELECT * FROM unnest(v_projects, v_keys) AS k(project_id, order_key) LOOP
        LOOP
            SELECT o.email_id, o.is_released, o.blocked_by INTO h FROM mailqueue.email_order AS o
             WHERE o.project_id = s.project_id AND o.order_key = s.order_key ORDER BY o.sequence_number LIMIT 1;
            EXIT WHEN h.blocked_by IS NULL
                   OR (SELECT p.ordering_on_failure = 'block' FROM mailqueue.projects AS p WHERE p.id = s.project_id);
            DELETE FROM mailqueue.email_order AS o
             WHERE o.email_id = (SELECT b.email_id FROM mailqueue.email_order AS b
                                  WHERE b.email_id = h.email_id AND b.blocked_by IS NOT NULL FOR UPDATE SKIP LOCKED);
            IF NOT FOUND THEN
                INSERT INTO mailqueue.order_signals VALUES (s.project_id, s.order_key, v_again);
                EXIT;
            END IF;
        END LOOP;
        CONTINUE WHEN h.email_id IS NULL OR h.is_released OR h.blocked_by IS NOT NULL;
        SELECT o.email_id, o.run_at, o.open_writers INTO h FROM mailqueue.email_order AS o
         WHERE o.email_id = h.email_id AND NOT o.is_released FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            INSERT INTO mailqueue.order_signals VALUES (s.project_id, s.order_key, v_again);
            CONTINUE;
        END IF;
        v_writers := ARRAY(SELECT w FROM jsonb_array_elements_text(v_open -> s.project_id::text) AS w
                            -- A prepared transaction has another name than before it was prepared.
                            WHERE h.open_writers IS NULL OR w = ANY (h.open_writers) OR w LIKE '-1/%');
        IF v_writers <> '{}' THEN
            UPDATE mailqueue.email_order AS o SET open_writers = v_writers
             WHERE o.email_id = h.email_id AND o.open_writers IS NULL;
            INSERT INTO mailqueue.order_signals VALUES (s.project_id, s.order_key, v_again);
            CONTINUE;
        END IF;
        SELECT e.id, e.lane_id, e.status INTO q FROM mailqueue.email_queue AS e WHERE e.id = h.email_id
           FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM mailqueue.email_queue AS e WHERE e.id = h.email_id) THEN
                INSERT INTO mailqueue.order_signals VALUES (s.project_id, s.order_key, v_again);
                CONTINUE;
            END IF;
            DELETE FROM mailqueue.email_order AS o WHERE o.email_id = h.email_id;  -- its row was deleted by hand
            INSERT INTO mailqueue.order_signals VALUES (s.project_id, s.order_key, p_now);
            CONTINUE;
        END IF;
        UPDATE mailqueue.email_order AS o SET is_released = true, open_writers = NULL WHERE o.email_id = h.email_id;
        UPDATE mailqueue.email_queue AS e SET run_at = greatest(h.run_at, p_now) WHERE e.id = h.email_id;
        IF q.status = 'pending' THEN
            INSERT INTO mailqueue.lane_signals (lane_id, due_at) VALUES (q.lane_id, greatest(h.run_at, p_now));
        END IF;
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.release_ordered(timestamptz) IS
    'Let the first mail of each signalled key have its turn; returns how many.';
