-- Contacts confirm that they want mail to a list: asked by a mail, and confirmed by the page behind its link.

-- The built-in mail, in the languages of the pages behind links.
CREATE OR REPLACE FUNCTION mailqueue.confirmation_words(p_language text,
    OUT language text, OUT subject text, OUT question text, OUT button text, OUT otherwise text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT w.* FROM (VALUES
        ('en', 'Please confirm: %s', 'Do you want to receive this mail from %s: %s?',
         'Please confirm here',
         'If you did not ask for it, do nothing: you will get no more of it. The link works for 7 days.'),
        ('ar', 'يرجى التأكيد: %s', 'هل تريد تلقي هذه الرسائل من %s: %s؟',
         'يرجى التأكيد هنا',
         'إذا لم تكن قد طلبت ذلك فلا تفعل شيئًا: لن تتلقى المزيد منها. الرابط صالح لمدة 7 أيام.'),
        ('de', 'Bitte bestätigen: %s', 'Möchten Sie diese Post von %s erhalten: %s?',
         'Bitte hier bestätigen',
         'Wenn Sie nicht darum gebeten haben, tun Sie nichts: Dann kommt nichts mehr. Der Link gilt 7 Tage.'),
        ('es', 'Confirme, por favor: %s', '¿Quiere recibir este correo de %s: %s?',
         'Confirme aquí, por favor',
         'Si no lo ha pedido, no haga nada: no recibirá más. El enlace vale 7 días.'),
        ('fr', 'Veuillez confirmer : %s', 'Voulez-vous recevoir ce courrier de %s : %s ?',
         'Veuillez confirmer ici',
         'Si vous n’avez rien demandé, ne faites rien : vous n’en recevrez plus. Le lien est valable 7 jours.'),
        ('he', 'נא לאשר: %s', 'לקבל הודעות אלה מאת %s: %s?',
         'נא לאשר כאן',
         'אם לא ביקשת זאת, אין צורך לעשות דבר: לא יגיעו אליך עוד כאלה. הקישור פועל במשך 7 ימים.'),
        ('it', 'Confermi, per favore: %s', 'Vuole ricevere questa posta da %s: %s?',
         'Confermi qui, per favore',
         'Se non l’ha chiesto, non faccia nulla: non ne riceverà altra. Il link vale 7 giorni.'),
        ('nl', 'Bevestig dit: %s', 'Wilt u deze mail van %s ontvangen: %s?',
         'Bevestig hier',
         'Hebt u hier niet om gevraagd, doe dan niets: u krijgt er geen meer. De link werkt 7 dagen.'),
        ('pl', 'Prosimy o potwierdzenie: %s', 'Czy chcesz otrzymywać tę pocztę od %s: %s?',
         'Potwierdź tutaj',
         'Jeśli to nie Twoja prośba, nic nie rób: więcej nie przyjdzie. Link działa przez 7 dni.'),
        ('pt', 'Confirme, por favor: %s', 'Quer receber este correio de %s: %s?',
         'Confirme aqui, por favor',
         'Se não o pediu, não faça nada: não receberá mais. A ligação é válida por 7 dias.'))
        AS w(language, subject, question, button, otherwise)
     WHERE w.language IN (split_part(lower(coalesce(p_language, 'en')), '-', 1), 'en')
     ORDER BY w.language = 'en' LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.confirmation_words(text) IS
    'Texts of the mail that asks to confirm, in a language or in English.';

CREATE OR REPLACE FUNCTION mailqueue.html_text(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT replace(replace(replace(replace(p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;')
$$;
COMMENT ON FUNCTION mailqueue.html_text(text) IS 'A text as HTML.';

-- At most 3 mails in 7 days, an hour apart: a form on a web page adds contacts again and again.
CREATE OR REPLACE FUNCTION mailqueue.ask_to_confirm(l mailqueue.contact_lists, p_contacts uuid[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_valid CONSTANT interval := '7 days';
    c_apart CONSTANT interval := '1 hour';
    c_max_mails CONSTANT integer := 3;
    p record;
    c mailqueue.contacts;
    w record;
    v_email uuid;
    v_label text := coalesce(l.description, l.name);
    v_options jsonb := CASE WHEN l.is_test THEN '{"is_test": true}' ELSE '{}' END;
    v_count integer := 0;
BEGIN
    SELECT o.name, coalesce(o.display_name, o.name) AS label INTO p
      FROM mailqueue.projects AS o WHERE o.id = l.project_id;
    v_options := v_options || '{"track_opens": false, "track_clicks": false, "unsubscribe": false}';
    -- One after another: the second of two calls sees the mail of the first. In the order of ids, as they are added.
    PERFORM FROM mailqueue.contact_list_members AS m
      WHERE m.list_id = l.id AND m.contact_id = ANY (p_contacts) AND m.is_pending
      ORDER BY m.contact_id FOR NO KEY UPDATE;
    FOR c IN
        SELECT o.* FROM mailqueue.contact_list_members AS m JOIN mailqueue.contacts AS o ON o.id = m.contact_id
         WHERE m.list_id = l.id AND m.contact_id = ANY (p_contacts) AND m.is_pending
           AND NOT EXISTS (SELECT FROM mailqueue.list_confirmations AS n
                            WHERE n.list_id = l.id AND n.contact_id = o.id AND n.created_at > now() - c_apart)
           AND (SELECT count(*) FROM mailqueue.list_confirmations AS n
                 WHERE n.list_id = l.id AND n.contact_id = o.id AND n.created_at > now() - c_valid) < c_max_mails
         ORDER BY o.id
    LOOP
        IF l.confirm_template IS NOT NULL THEN
            v_email := mailqueue.enqueue(p.name, c.email, options => v_options || jsonb_strip_nulls(jsonb_build_object(
                'template', l.confirm_template, 'language', c.language))
                || jsonb_build_object('variables', jsonb_build_object(
                    'contact', mailqueue.contact_document(c) || jsonb_build_object('id', c.id),
                    'list', jsonb_build_object('name', l.name, 'description', l.description))));
        ELSE
            w := mailqueue.confirmation_words(c.language);
            v_email := mailqueue.enqueue(p.name, c.email, format(w.subject, v_label),
                format('<!doctype html><html lang="%s" dir="%s"><body><p>%s</p>'
                       '<p><a href="{{ confirm_url }}">%s</a></p><p>%s</p></body></html>', w.language,
                       CASE WHEN w.language IN ('ar', 'he') THEN 'rtl' ELSE 'ltr' END,
                       mailqueue.html_text(format(w.question, p.label, v_label)), w.button, w.otherwise),
                format(E'%s\n\n%s:\n{{ confirm_url }}\n\n%s\n', format(w.question, p.label, v_label), w.button,
                       w.otherwise), v_options);
        END IF;
        INSERT INTO mailqueue.list_confirmations (email_id, list_id, contact_id, project_id)
        VALUES (v_email, l.id, c.id, l.project_id);
        UPDATE mailqueue.contact_list_members AS m SET pending_until = now() + c_valid
         WHERE m.list_id = l.id AND m.contact_id = c.id;
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.ask_to_confirm(mailqueue.contact_lists, uuid[]) IS
    'Queue a mail to each of these contacts that is pending, unless it was asked a moment ago or often; returns the '
    'number of mails.';

CREATE OR REPLACE FUNCTION mailqueue.asked_membership(p_project uuid, p_email uuid,
    OUT list text, OUT state text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT coalesce(l.description, l.name),
           CASE WHEN NOT m.is_pending THEN 'confirmed' WHEN m.pending_until > now() THEN 'pending' ELSE 'expired' END
      INTO list, state
      FROM mailqueue.list_confirmations AS n
      JOIN mailqueue.contact_list_members AS m ON m.list_id = n.list_id AND m.contact_id = n.contact_id
      JOIN mailqueue.contact_lists AS l ON l.id = n.list_id
     WHERE n.email_id = p_email AND n.project_id = p_project;
END $$;
COMMENT ON FUNCTION mailqueue.asked_membership(uuid, uuid) IS
    'The list that a mail asked to confirm, and whether that is pending, confirmed or expired; NULL: neither.';

CREATE OR REPLACE FUNCTION mailqueue.confirm_membership(p_project uuid, p_email uuid, p_wording text, p_agent text,
    p_network inet) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    m record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.contact_list_members AS o
       SET is_pending = false, pending_until = NULL, confirmed_at = now(), confirm_wording = left(p_wording, 2000),
           confirm_agent = left(p_agent, 500), confirm_network = p_network
      FROM mailqueue.list_confirmations AS n
     WHERE n.email_id = p_email AND n.project_id = p_project AND o.list_id = n.list_id
       AND o.contact_id = n.contact_id AND o.is_pending AND o.pending_until > now()
    RETURNING o.contact_id, o.list_id INTO m;
    IF m.contact_id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.contacts AS c
       SET consented_at = now(), consent_source = 'confirmed list ' || l.name, consent_wording = left(p_wording, 2000)
      FROM mailqueue.contact_lists AS l
     WHERE c.id = m.contact_id AND l.id = m.list_id AND c.consented_at IS NULL;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.confirm_membership(uuid, uuid, text, text, inet) IS
    'Confirm what a mail asked for, and keep when, where and to what words; it becomes the consent of a contact that '
    'has none. False: there is nothing to confirm, or its time is over.';
