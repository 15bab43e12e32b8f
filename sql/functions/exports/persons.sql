-- What is stored about a person, for the person: asked for by the link of a mail, and sent as a link to the address.

-- The built-in mail, in the languages of the pages behind links.
CREATE OR REPLACE FUNCTION mailqueue.data_words(p_language text,
    OUT language text, OUT subject text, OUT intro text, OUT button text, OUT otherwise text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT w.* FROM (VALUES
        ('en', 'Your data at %s', 'You asked for what %s stores about you. You find it here:', 'My data',
         'If you did not ask for it, do nothing: nobody else has this link. It works for 7 days.'),
        ('ar', 'بياناتك لدى %s', 'لقد طلبت ما يحتفظ به %s عنك. تجده هنا:', 'بياناتي',
         'إذا لم تكن قد طلبت ذلك فلا تفعل شيئًا: لا يملك أحد غيرك هذا الرابط. الرابط صالح لمدة 7 أيام.'),
        ('de', 'Ihre Daten bei %s', 'Sie haben danach gefragt, was %s über Sie speichert. Hier finden Sie es:',
         'Meine Daten',
         'Wenn Sie nicht danach gefragt haben, tun Sie nichts: Niemand sonst hat diesen Link. Er gilt 7 Tage.'),
        ('es', 'Sus datos en %s', 'Ha preguntado qué guarda %s sobre usted. Lo encuentra aquí:', 'Mis datos',
         'Si no lo ha pedido, no haga nada: nadie más tiene este enlace. Vale 7 días.'),
        ('fr', 'Vos données chez %s', 'Vous avez demandé ce que %s conserve à votre sujet. Vous le trouvez ici :',
         'Mes données',
         'Si vous n’avez rien demandé, ne faites rien : personne d’autre n’a ce lien. Il est valable 7 jours.'),
        ('he', 'הנתונים שלך אצל %s', 'ביקשת לדעת מה %s שומר עליך. הנתונים נמצאים כאן:', 'הנתונים שלי',
         'אם לא ביקשת זאת, אין צורך לעשות דבר: הקישור אינו בידי אף אחד אחר. הוא פועל במשך 7 ימים.'),
        ('it', 'I suoi dati presso %s', 'Ha chiesto che cosa %s conserva su di lei. Lo trova qui:', 'I miei dati',
         'Se non l’ha chiesto, non faccia nulla: nessun altro ha questo link. Vale 7 giorni.'),
        ('nl', 'Uw gegevens bij %s', 'U hebt gevraagd wat %s over u bewaart. U vindt het hier:', 'Mijn gegevens',
         'Hebt u hier niet om gevraagd, doe dan niets: niemand anders heeft deze link. De link werkt 7 dagen.'),
        ('pl', 'Twoje dane w %s', 'Padło pytanie, co %s przechowuje na Twój temat. Znajdziesz to tutaj:', 'Moje dane',
         'Jeśli to nie Twoja prośba, nic nie rób: nikt inny nie ma tego linku. Działa przez 7 dni.'),
        ('pt', 'Os seus dados em %s', 'Perguntou o que %s guarda sobre si. Encontra-o aqui:', 'Os meus dados',
         'Se não o pediu, não faça nada: mais ninguém tem esta ligação. É válida por 7 dias.'))
        AS w(language, subject, intro, button, otherwise)
     WHERE w.language IN (split_part(lower(coalesce(p_language, 'en')), '-', 1), 'en')
     ORDER BY w.language = 'en' LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.data_words(text) IS
    'Texts of the mail with the link to what is stored about a person, in a language or in English.';

CREATE OR REPLACE FUNCTION mailqueue.offers_data(p_project uuid, p_email uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN NOT mailqueue.is_test_email(p_email)
           AND EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.id = p_project AND p.status = 'active');
END $$;
COMMENT ON FUNCTION mailqueue.offers_data(uuid, uuid) IS
    'Whether the recipient of a mail may ask for what is stored about them: not behind a link of test mail, whose '
    'reader may not see live data.';

-- The link of any mail asks, and may have been forwarded: the answer goes to the address alone.
CREATE OR REPLACE FUNCTION mailqueue.ask_for_data(p_project uuid, p_email uuid, p_recipient integer, p_language text)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_apart CONSTANT interval := '1 day';
    c_most CONSTANT integer := 1000;                         -- of a project in that time
    c_most_unfinished CONSTANT integer := 20;                -- each reads tables of the project
    r record;
    w record;
    v_since uuid := mailqueue.first_uuid(now() - c_apart);
    v_export uuid;
    v_email uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT o.address, o.project, p.name INTO r
      FROM mailqueue.recipient_of_link(p_email, p_recipient) AS o
      JOIN mailqueue.projects AS p ON p.id = o.project_id WHERE o.project_id = p_project;
    IF NOT FOUND OR NOT mailqueue.offers_data(p_project, p_email) THEN
        RETURN 'none';
    END IF;
    PERFORM mailqueue.lock_key('exports ' || p_project);     -- one at a time: what is there is counted
    IF EXISTS (SELECT FROM mailqueue.exports AS x
                WHERE x.project_id = p_project AND x.id > v_since AND x.kind = 'person'
                  AND lower(x.filter ->> 'email') = lower(r.address)) THEN
        RETURN 'again';
    ELSIF (SELECT count(*) FROM (SELECT FROM mailqueue.exports AS x
                                  WHERE x.project_id = p_project AND x.id > v_since AND x.kind = 'person'
                                  LIMIT c_most) AS o) >= c_most THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s exports of persons within a day', c_most);
    ELSIF (SELECT count(*) FROM mailqueue.exports AS x
            WHERE x.project_id = p_project AND x.id > v_since AND x.kind = 'person'
              AND x.status IN ('pending', 'assigned')) >= c_most_unfinished THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s exports of persons that are not finished',
                                                   c_most_unfinished);
    END IF;
    IF mailqueue.suppressed(p_project, r.address, 'transactional') IS NOT NULL THEN
        RETURN 'stopped';                                    -- the mail would not be sent, nor the file be fetched
    END IF;
    w := mailqueue.data_words(p_language);
    v_email := mailqueue.enqueue(r.name, r.address, format(w.subject, r.project),
        format('<!doctype html><html lang="%s" dir="%s"><body><p>%s</p><p><a href="{{ data_url }}">%s</a></p><p>%s</p>'
               '</body></html>', w.language, CASE WHEN w.language IN ('ar', 'he') THEN 'rtl' ELSE 'ltr' END,
               mailqueue.html_text(format(w.intro, r.project)), w.button, w.otherwise),
        format(E'%s\n{{ data_url }}\n\n%s\n', format(w.intro, r.project), w.otherwise),
        '{"track_opens": false, "track_clicks": false, "unsubscribe": false}');
    INSERT INTO mailqueue.exports AS x (project_id, kind, format, filter, requested_by, email_id)
    VALUES (p_project, 'person', 'json', jsonb_build_object('email', r.address), 'recipient', v_email)
    RETURNING x.id INTO v_export;
    PERFORM mailqueue.record_operation(p_project, 'export.begun', 'export ' || v_export,
                jsonb_build_object('kind', 'person', 'person',
                                   encode(mailqueue.address_hash(p_project, r.address), 'hex')), 'recipient');
    RETURN 'sent';
END $$;
COMMENT ON FUNCTION mailqueue.ask_for_data(uuid, uuid, integer, text) IS
    'Let workers collect what is stored about the recipient of a mail, and send the address a link to it: sent; again '
    'if that was done within the last day; stopped where the address gets no mail at all; none behind a link of test '
    'mail.';
