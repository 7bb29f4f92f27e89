-- The statements of knowledge bases, each under its name. What several of them share stands in a Jinja variable.
--
-- Column `state` of `kb_upload`: 0 to do, 1 being worked on, 2 done, 3 failed.

{% set listened = "EXISTS (SELECT FROM event_listener WHERE until > now())" %}

-- Uploads.

{# The order within a user's share: a megabyte gives way to what comes within ten seconds, so a short upload passes
   long ones, and a long one is not passed for ever. #}
{% set turn = "u.created_at + u.size * interval '10 microseconds'" %}

-- name: log_upload
-- Primary key, and index `kb_file_by_upload`.
INSERT INTO event_log (kind, ref, user_id, data)
SELECT %(kind)s, u.id, u.user_id, json_strip_nulls(json_build_object('knowledgeBaseId', u.kb_id, 'files', (
    SELECT coalesce(json_agg(json_build_object('fileId', f.file_hash, 'fileName', f.file_name) ORDER BY f.id), '[]')
    FROM kb_file f WHERE f.upload_id = u.id
), 'error', %(error)s::text))::text FROM kb_upload u WHERE u.id = %(upload)s AND {{ listened }}

{# Whatever can be leased next. An upload of up to a megabyte is short: it finds a place beside the long ones of its
   user. A lease lasts 30 seconds; a holder whose process shows no lock loses it once 25 of them are left: it has been
   silent for several beats, and has not just lost its connection. #}
{% set next -%}
WITH held AS (
    SELECT (k.classid::bigint << 32 | k.objid::bigint) AS owner FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), running AS (
    SELECT user_id, count(*) AS n, count(*) FILTER (WHERE size <= 1048576) AS short FROM kb_upload
    WHERE state = 1 AND due_at > now() GROUP BY user_id
), next AS (
    SELECT u.id FROM kb_upload u LEFT JOIN running r ON r.user_id = u.user_id
    WHERE (u.state = 0 AND u.due_at <= now()
    OR u.state = 1 AND (u.due_at <= now()
        OR u.due_at <= now() + interval '25 seconds' AND u.owner NOT IN (SELECT owner FROM held)))
    AND (r.n IS NULL OR u.size <= 1048576 AND r.short = 0 OR NOT %s)
    ORDER BY coalesce(r.n, 0), {{ turn }}, u.id LIMIT 1 OFFSET %s FOR UPDATE OF u SKIP LOCKED
)
{%- endset %}

-- name: claim_upload
{{ next }}
UPDATE kb_upload u SET state = 1, owner = %s, attempts = attempts + 1,
    due_at = now() + interval '30 seconds', preparing = false
FROM next WHERE u.id = next.id RETURNING u.id, u.kb_id, u.attempts

-- name: next_upload
{{ next }} SELECT id FROM next

-- name: statuses_of_files
-- Primary key.
SELECT id, status FROM kb_file WHERE id = ANY(%(ids)s)

-- name: next_version_of_page
-- Of a page that is gone meanwhile the file goes too.
WITH page AS (
    UPDATE kb_source_page SET next_file_id = %(file)s, status = 'processing', error = NULL, etag = NULL,
        last_modified = NULL, version = NULL
    WHERE id = %(page)s RETURNING id
)
INSERT INTO kb_unused_file SELECT %(file)s WHERE NOT EXISTS (SELECT FROM page) ON CONFLICT DO NOTHING

-- name: keep_file_for_good
-- Who uploads a file that a source has brought keeps it when the source loses it.
UPDATE kb_file SET synced = false WHERE kb_id = %s AND file_hash = %s AND synced

-- Pieces of uploads.

-- name: unembedded_pieces
SELECT p.file_id, p.position, CASE p.context WHEN '' THEN p.text ELSE p.context || E'\n' || p.text END, p.seq
FROM kb_piece p WHERE p.upload_id = %s AND p.seq > %s AND NOT EXISTS (
    SELECT FROM kb_piece_vector v WHERE v.file_id = p.file_id AND v.position = p.position AND v.model = %s
) ORDER BY p.seq LIMIT %s

-- name: store_vectors
-- The rows may be gone (base deleted, lease lost): those are passed over.
WITH stored AS (
    INSERT INTO kb_piece_vector AS former (file_id, position, model, embedding)
    SELECT p.file_id, p.position, %s::int2, v.embedding
    FROM unnest(%s::int8[], %s::int4[], %b::halfvec[]) v(file_id, position, embedding)
    JOIN kb_piece p ON p.file_id = v.file_id AND p.position = v.position AND p.upload_id = %s
    ON CONFLICT (file_id, position) DO UPDATE SET model = excluded.model, embedding = excluded.embedding
    WHERE former.model <> excluded.model RETURNING file_id
), counted AS (SELECT file_id, count(*)::int4 AS n FROM stored GROUP BY file_id)
UPDATE kb_file f SET embedded = f.embedded + n,
    progress = CASE WHEN staged THEN 0.2 + 0.8 * (f.embedded + n)::real / greatest(1, chunk_count)
    ELSE progress END
FROM counted WHERE f.id = counted.file_id

-- name: finish_file
UPDATE kb_file f SET mime_type = %(mime_type)s, warnings = %(warnings)s, staged = true, chunk_count = n,
    text = coalesce((SELECT string_agg(t.text, '' ORDER BY start) FROM kb_text t WHERE t.file_id = f.id), ''),
    progress = 0.2 + 0.8 * embedded::real / greatest(1, n)
FROM (SELECT count(*)::int4 AS n FROM kb_piece WHERE file_id = %(file)s) pieces
WHERE id = %(file)s AND upload_id = %(upload)s

-- name: publish_chunks
-- Chunks and their index come from the staged pieces inside the server. Nobody waits for this part: the rows are new.
-- Pending entries of the inverted indexes enter them at once, else searches would read them one by one.
INSERT INTO chunk (kb_id, seq, chunk_id, file_id, position, text, context, metadata)
SELECT %(base)s, seq, chunk_id, file_id, position, text, context, metadata
FROM kb_piece WHERE upload_id = %(upload)s ORDER BY seq

-- name: publish_index
INSERT INTO chunk_index (kb_id, seq, model, terms, lex, embedding)
SELECT %(base)s, p.seq, %(model)s, p.terms, p.lex, v.embedding
FROM kb_piece p JOIN kb_piece_vector v
ON v.file_id = p.file_id AND v.position = p.position AND v.model = %(model)s
WHERE p.upload_id = %(upload)s ORDER BY p.seq

-- name: clean_terms_of_chunks
SELECT gin_clean_pending_list(format('%%s_terms', tableoid::regclass)::regclass)
FROM chunk_index WHERE kb_id = %(base)s LIMIT 1

-- name: publish_words
-- From here on other changes of the base wait.
INSERT INTO kb_term AS t (kb_id, term, df)
SELECT %(base)s, word, count(*) FROM kb_piece, string_to_table(words, ' ') word
WHERE upload_id = %(upload)s GROUP BY word ORDER BY word
ON CONFLICT (kb_id, term) DO UPDATE SET df = t.df + excluded.df

-- name: clean_words
SELECT gin_clean_pending_list(format('%%s_similar', tableoid::regclass)::regclass)
FROM kb_term WHERE kb_id = %(base)s LIMIT 1

-- name: publish_base
UPDATE knowledge_base SET model = coalesce(model, %(model)s), chunk_count = chunk_count + (
    SELECT count(*) FROM kb_piece WHERE upload_id = %(upload)s
) WHERE id = %(base)s

-- name: publish_files
UPDATE kb_file SET status = 'ready', progress = 1, updated_at = clock_timestamp(), upload_id = NULL
WHERE upload_id = %(upload)s

-- name: delete_published_pieces
DELETE FROM kb_piece WHERE upload_id = %s

-- Files.

-- name: queue_of_uploads
-- The order in which uploads are leased, as long as none ends: the user with the fewest running ones first, of
-- each user the short ones first. Index `kb_upload_open`.
WITH running AS (
    SELECT user_id, count(*) AS n FROM kb_upload
    WHERE state = 1 AND due_at > now() GROUP BY user_id
), waiting AS (
    SELECT u.id, {{ turn }} AS at,
        coalesce(r.n, 0) + row_number() OVER (PARTITION BY u.user_id ORDER BY {{ turn }}, u.id) AS turn
    FROM kb_upload u LEFT JOIN running r ON r.user_id = u.user_id WHERE u.state = 0
)
SELECT id, position FROM (SELECT id, row_number() OVER (ORDER BY turn, at, id) AS position FROM waiting) queue
WHERE id = ANY(%s)

-- name: forget_index
-- Indexes: the primary keys, and `chunk_by_file`.
DELETE FROM chunk_index WHERE kb_id = %(base)s
AND seq IN (SELECT seq FROM chunk WHERE kb_id = %(base)s AND file_id = %(file)s)

-- name: forget_chunks
DELETE FROM chunk WHERE kb_id = %(base)s AND file_id = %(file)s

-- name: forget_counts
UPDATE kb_term t SET df = t.df - n FROM unnest(%(words)s::text[], %(counts)s::int4[]) w(word, n)
WHERE t.kb_id = %(base)s AND t.term = w.word

-- name: forget_words
DELETE FROM kb_term WHERE kb_id = %(base)s AND term = ANY(%(words)s::text[]) AND df <= 0

-- name: forget_count
UPDATE knowledge_base SET chunk_count = greatest(0, chunk_count - %(chunks)s) WHERE id = %(base)s

-- Vector indexes, and the change to another model.

-- name: vector_indexes
SELECT c.relname, i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relname LIKE 'hnsw\_%%'

-- name: large_bases
SELECT b.id, i.tableoid::regclass::text, i.model, b.chunk_count FROM knowledge_base b
CROSS JOIN LATERAL (SELECT tableoid, model FROM chunk_index WHERE kb_id = b.id ORDER BY seq DESC LIMIT 1) i
WHERE b.chunk_count > %s

-- name: orphans
SELECT 'chunks without a file', count(*) FROM chunk c
WHERE NOT EXISTS (SELECT FROM kb_file f WHERE f.id = c.file_id)
UNION ALL
SELECT 'index entries without a chunk', count(*) FROM chunk_index i
WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.kb_id = i.kb_id AND c.seq = i.seq)
UNION ALL
SELECT 'chunks without an index entry', count(*) FROM chunk c
WHERE NOT EXISTS (SELECT FROM chunk_index i WHERE i.kb_id = c.kb_id AND i.seq = c.seq)
UNION ALL
SELECT 'words of deleted bases', count(*) FROM kb_term t
WHERE NOT EXISTS (SELECT FROM knowledge_base b WHERE b.id = t.kb_id)
UNION ALL
SELECT 'files of sources that no page has', count(*) FROM kb_file f WHERE f.synced
AND NOT EXISTS (SELECT FROM kb_source_page p WHERE p.file_id = f.id)
AND NOT EXISTS (SELECT FROM kb_source_page p WHERE p.next_file_id = f.id)
AND NOT EXISTS (SELECT FROM kb_unused_file u WHERE u.file_id = f.id)
UNION ALL
SELECT 'files without bytes on record', count(*) FROM kb_file f
WHERE NOT EXISTS (SELECT FROM blob b WHERE b.key = f.blob_key)

-- name: lease_reindexing
INSERT INTO chosen_model (kind, name, precision, owner, due_at)
VALUES ('reindexing', %(model)s, '', %(owner)s, now() + interval '60 seconds')
ON CONFLICT (kind) DO UPDATE SET name = excluded.name, owner = excluded.owner, due_at = excluded.due_at
WHERE chosen_model.owner = excluded.owner OR chosen_model.due_at < now() RETURNING kind

-- name: drop_unused_vectors
DELETE FROM chunk_vector v WHERE v.model <> %(model)s OR NOT EXISTS (
    SELECT FROM knowledge_base b WHERE b.id = v.kb_id AND b.model <> v.model
)

-- name: reindexing_progress
SELECT (SELECT count(*) FROM chunk_vector WHERE model = %(model)s),
    coalesce(sum(chunk_count), 0)::int8 FROM knowledge_base WHERE model <> %(model)s

{% set missing -%}
i.kb_id = %(base)s AND i.model <> %(model)s AND i.seq > %(after)s AND NOT EXISTS (
    SELECT FROM chunk_vector v WHERE v.kb_id = %(base)s AND v.seq = i.seq AND v.model = %(model)s
)
{%- endset %}

-- name: next_to_reindex
SELECT i.kb_id, i.seq, CASE c.context WHEN '' THEN c.text ELSE c.context || E'\n' || c.text END
FROM chunk_index i JOIN chunk c ON c.kb_id = %(base)s AND c.seq = i.seq WHERE {{ missing }}
ORDER BY i.seq LIMIT %(limit)s

-- name: is_any_missing
SELECT FROM chunk_index i WHERE {{ missing }} LIMIT 1

-- name: keep_vectors
INSERT INTO chunk_vector (kb_id, seq, model, embedding)
SELECT kb_id, seq, %s, embedding FROM unnest(%s::int4[], %s::int8[], %b::halfvec[]) v(kb_id, seq, embedding)
ON CONFLICT (kb_id, seq) DO UPDATE SET model = excluded.model, embedding = excluded.embedding

-- name: change_over_chunks
UPDATE chunk_index i SET model = v.model, embedding = v.embedding FROM chunk_vector v
WHERE i.kb_id = %(base)s AND v.kb_id = %(base)s AND v.seq = i.seq AND v.model = %(model)s

-- name: drop_kept_vectors
DELETE FROM chunk_vector WHERE kb_id = %(base)s

-- name: change_over_base
UPDATE knowledge_base SET model = %(model)s WHERE id = %(base)s

-- Words.

-- name: old_words
-- Index: the primary keys.
SELECT i.seq, i.terms, c.context, c.text FROM chunk_index i JOIN chunk c ON c.kb_id = i.kb_id AND c.seq = i.seq
WHERE i.kb_id = %(base)s AND i.seq > %(after)s AND i.seq <= %(last)s ORDER BY i.seq LIMIT %(limit)s

-- name: replace_words
UPDATE chunk_index i SET terms = n.terms::int4[], lex = n.lex::sparsevec
FROM unnest(%s::int8[], %s::text[], %s::text[]) n(seq, terms, lex)
WHERE i.kb_id = %s AND i.seq = n.seq RETURNING i.seq

-- name: count_words
INSERT INTO kb_term AS t (kb_id, term, df)
SELECT %(base)s, word, n FROM unnest(%(words)s::text[], %(counts)s::int4[]) w(word, n) ORDER BY word
ON CONFLICT (kb_id, term) DO UPDATE SET df = t.df + excluded.df

-- name: drop_uncounted_words
DELETE FROM kb_term WHERE kb_id = %(base)s AND term = ANY(%(words)s::text[]) AND df <= 0

-- Words of a query, and the rows that hold them. `{name}` is filled in for each search: base ids and hashes of terms stand
-- as literals.

-- name: frequencies
SELECT NULL, chunk_count FROM knowledge_base WHERE id = {base} UNION ALL
SELECT term, df FROM kb_term WHERE kb_id = {base} AND term = ANY({terms}::text[])

-- name: forms
-- Index: the primary key, in the order of bytes.
SELECT s.word, t.term, t.df FROM unnest({words}::text[], {starts}::text[]) s(word, start)
CROSS JOIN LATERAL (
    SELECT term, df FROM kb_term WHERE kb_id = {base} AND term >= s.start AND term < s.start || chr(1114111)
    ORDER BY term LIMIT {limit}
) t

-- name: similar_words
SELECT w.word, t.term, t.df, similarity(t.term, w.word) FROM unnest({words}::text[]) w(word)
CROSS JOIN LATERAL (
    SELECT term, df FROM kb_term WHERE kb_id = {base} AND term % w.word
    ORDER BY similarity(term, w.word) DESC, df DESC, term LIMIT {limit}
) t

-- name: best_of_whole
-- The words that a chunk holds are asked of the best alone.
SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM chunk_index WHERE kb_id = {base} ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))

-- name: best_of_ranked
WITH m AS MATERIALIZED (
    SELECT seq, lex FROM chunk_index WHERE kb_id = {base} AND ({condition}) LIMIT {most}
) SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM m ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))

-- name: best_of_first
SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM (SELECT seq, lex FROM chunk_index WHERE kb_id = {base} ORDER BY seq LIMIT {most}) m
    ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))

-- Searches, filled in likewise.

-- name: scope_of_files
SELECT id, chunk_count FROM kb_file WHERE kb_id = {base} AND file_hash = ANY({hashes}::text[])

-- name: nearest_of_files
SELECT seq, 1 - distance FROM (
    SELECT n.seq, n.distance, row_number() OVER (PARTITION BY c.file_id ORDER BY n.distance, n.seq) AS place
    FROM (
        SELECT seq, embedding <=> %s::halfvec AS distance FROM chunk_index
        WHERE kb_id = {base} AND model = {model}{nearest}
    ) n JOIN chunk c ON c.kb_id = {base} AND c.seq = n.seq{files}
) ranked WHERE place <= {of_file} ORDER BY distance, seq LIMIT {limit}

-- name: weighed
WITH m AS MATERIALIZED (
    SELECT i.seq, i.lex, c.file_id FROM chunk_index i JOIN chunk c ON c.kb_id = {base} AND c.seq = i.seq{files}
    WHERE i.kb_id = {base} AND ({condition}) LIMIT {most}
), best AS MATERIALIZED (
    SELECT seq, file_id FROM (
        SELECT seq, file_id, weight, row_number() OVER (PARTITION BY file_id ORDER BY weight, seq) AS place
        FROM (SELECT seq, file_id, lex <#> {weights}::sparsevec AS weight FROM m) weighed WHERE weight < 0
    ) ranked WHERE place <= {of_file} ORDER BY weight, seq LIMIT {limit}
) SELECT i.seq, b.file_id, {held} FROM best b JOIN chunk_index i ON i.kb_id = {base} AND i.seq = b.seq

-- name: first_of_files
i.seq = ANY(ARRAY(
    SELECT first.seq FROM kb_file f CROSS JOIN LATERAL (
        SELECT c.seq FROM chunk c WHERE c.kb_id = {base} AND c.file_id = f.id{files}
        ORDER BY c.position LIMIT {of_file}
    ) first WHERE f.kb_id = {base} LIMIT {most}
))

-- name: nearest
SELECT seq, 1 - distance, (SELECT to_regclass({vector_index}) IS NOT NULL) FROM (
    SELECT i.seq, i.embedding <=> %s::halfvec AS distance FROM chunk_index i
    WHERE i.kb_id = {base} AND i.model = {model} ORDER BY 2 LIMIT {limit}
) nearest

-- name: passages
SELECT c.seq, c.chunk_id, c.text, c.context, c.metadata, f.file_hash, f.source_url,
    f.blob_key, f.file_name, f.mime_type, f.id,
    CASE WHEN i.model = {model} THEN 1 - (i.embedding <=> %s::halfvec) END, {held}
FROM chunk c JOIN chunk_index i ON i.kb_id = c.kb_id AND i.seq = c.seq JOIN kb_file f ON f.id = c.file_id
WHERE c.kb_id = {base} AND i.kb_id = {base} AND c.seq = ANY(%s) AND i.seq = ANY(%s)

-- Sources.

-- name: drop_files_of_source
INSERT INTO kb_unused_file
SELECT DISTINCT held.id FROM kb_source_page p, unnest(ARRAY[p.file_id, p.next_file_id]) held(id)
WHERE p.source_id = %(source)s AND held.id IS NOT NULL ON CONFLICT DO NOTHING

-- name: keep_files_of_source
-- Index `kb_source_page_by_status`, primary key of `kb_file`.
UPDATE kb_file SET synced = false WHERE id IN (
    SELECT unnest(ARRAY[file_id, next_file_id]) FROM kb_source_page WHERE source_id = %(source)s
)

-- name: claim_source
-- A lease lasts 180 seconds; a holder whose process shows no lock loses it once 150 of them are left: it may just have
-- lost its connection.
-- Leases a source and begins its pass with its own address. Indexes `kb_source_due`, `kb_source_leased`.
WITH held AS (
    SELECT (k.classid::bigint << 32 | k.objid::bigint) AS owner FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), busy AS (
    SELECT user_id, count(*) AS n FROM kb_source WHERE owner IS NOT NULL AND due_at > now() GROUP BY user_id
), next AS (
    SELECT s.id, s.state <> 'reading' AS fresh FROM kb_source s LEFT JOIN busy b ON b.user_id = s.user_id
    WHERE (s.due_at <= now() OR s.owner IS NOT NULL AND s.owner NOT IN (SELECT owner FROM held)
        AND s.due_at <= now() + interval '150 seconds')
    AND (b.n IS NULL OR NOT %(newcomers)s)
    ORDER BY coalesce(b.n, 0), s.due_at, s.id LIMIT 1 FOR UPDATE OF s SKIP LOCKED
), begun AS (
    UPDATE kb_source s SET owner = %(owner)s, due_at = now() + interval '180 seconds', state = 'reading',
        round = s.round + (s.state <> 'reading')::int,
        trouble = CASE s.state WHEN 'reading' THEN s.trouble ELSE 0 END,
        note = CASE s.state WHEN 'reading' THEN s.note END
    FROM next WHERE s.id = next.id
    RETURNING s.id, s.kb_id, s.kind, s.address, s.instance_id, s.user_id, s.by_admin, s.round, s.trouble, s.key, fresh
), rooted AS (
    INSERT INTO kb_source_page (source_id, key, kind, address, round)
    SELECT id, key, 'root', address, round FROM begun WHERE fresh
    ON CONFLICT (source_id, key) DO UPDATE SET round = excluded.round, status = 'waiting', attempts = 0,
        address = excluded.address
    WHERE kb_source_page.round < excluded.round
)
SELECT id, kb_id, kind, address, instance_id, user_id, by_admin, round, trouble FROM begun

-- name: remove_gone_pages
-- Index `kb_source_page_by_round`.
WITH gone AS (
    DELETE FROM kb_source_page WHERE source_id = %(source)s AND round < %(round)s RETURNING file_id, next_file_id
)
INSERT INTO kb_unused_file SELECT DISTINCT held.id FROM gone, unnest(ARRAY[file_id, next_file_id]) held(id)
WHERE held.id IS NOT NULL ON CONFLICT DO NOTHING

-- name: finish_pass
UPDATE kb_source s SET state = 'idle', owner = NULL, read_at = now(), trouble = 0,
    due_at = CASE WHEN s.again THEN now() ELSE now() + s.every_minutes * interval '1 minute' END, again = false,
    error = coalesce(%(error)s, (
        SELECT p.error FROM kb_source_page p
        WHERE p.source_id = s.id AND p.key = s.key AND p.status IN ('failed', 'skipped', 'gone')
    ))
WHERE s.id = %(source)s AND s.owner = %(owner)s RETURNING s.id

-- name: give_up_pages
UPDATE kb_source_page SET status = 'failed', error = %(error)s WHERE source_id = %(source)s AND status = 'waiting'

-- name: keep_used_files
WITH used AS (
    SELECT u.file_id, (
        SELECT p.address FROM kb_source_page p WHERE p.file_id = u.file_id OR p.next_file_id = u.file_id LIMIT 1
    ) AS address, f.synced
    FROM kb_unused_file u JOIN kb_file f ON f.id = u.file_id ORDER BY u.file_id LIMIT %(limit)s
), kept AS (
    DELETE FROM kb_unused_file u USING used
    WHERE u.file_id = used.file_id AND (used.address IS NOT NULL OR NOT used.synced)
)
UPDATE kb_file f SET source_url = used.address FROM used WHERE f.id = used.file_id AND used.address IS NOT NULL

-- name: unused_files
SELECT f.kb_id, f.file_hash FROM kb_unused_file u JOIN kb_file f ON f.id = u.file_id
ORDER BY u.file_id LIMIT %(limit)s

-- name: settle_pages
-- Index `kb_source_page_by_status`.
WITH ended AS (
    SELECT p.id, p.file_id AS old, f.id AS new, coalesce(f.status, 'failed') = 'ready' AS ready, f.error
    FROM kb_source_page p LEFT JOIN kb_file f ON f.id = p.next_file_id
    WHERE p.source_id = %(source)s AND p.status = 'processing' AND f.status IS DISTINCT FROM 'processing'
), changed AS (
    UPDATE kb_source_page p SET next_file_id = NULL, status = CASE WHEN e.ready THEN 'read' ELSE 'failed' END,
        file_id = CASE WHEN e.ready THEN e.new ELSE p.file_id END,
        error = CASE WHEN NOT e.ready THEN coalesce(e.error, 'its file was deleted while it was being processed') END,
        etag = CASE WHEN e.ready THEN p.etag END, last_modified = CASE WHEN e.ready THEN p.last_modified END,
        attempts = p.attempts + (NOT e.ready)::int
    FROM ended e WHERE p.id = e.id
)
INSERT INTO kb_unused_file SELECT DISTINCT CASE WHEN ready THEN old ELSE new END FROM ended
WHERE CASE WHEN ready THEN old <> new ELSE new IS NOT NULL END ON CONFLICT DO NOTHING

-- name: list_pages
-- Index `kb_source_page_key`.
INSERT INTO kb_source_page (
    source_id, key, kind, address, name, listed_by, listed_version, round, status, error
)
SELECT %(source)s, l.key, l.kind, l.address, l.name, %(list)s, l.version, %(round)s,
    CASE WHEN l.problem IS NULL THEN 'waiting' ELSE 'skipped' END, l.problem
FROM unnest(
    %(keys)s::bytea[], %(kinds)s::text[], %(addresses)s::text[], %(names)s::text[], %(versions)s::text[],
    %(problems)s::text[]
) WITH ORDINALITY l(key, kind, address, name, version, problem, place)
ORDER BY l.place
ON CONFLICT (source_id, key) DO UPDATE SET round = excluded.round, listed_by = excluded.listed_by,
    listed_version = excluded.listed_version, name = coalesce(nullif(excluded.name, ''), kb_source_page.name),
    address = excluded.address,
    attempts = CASE WHEN kb_source_page.version = excluded.listed_version THEN kb_source_page.attempts ELSE 0 END,
    error = CASE WHEN kb_source_page.version = excluded.listed_version AND excluded.error IS NULL
        THEN kb_source_page.error ELSE excluded.error END,
    status = CASE WHEN excluded.status = 'waiting' AND kb_source_page.version = excluded.listed_version AND (
        kb_source_page.status = 'read' AND kb_source_page.file_id IS NOT NULL
        OR kb_source_page.status = 'failed' AND kb_source_page.attempts >= %(most)s
    ) THEN kb_source_page.status ELSE excluded.status END
WHERE kb_source_page.round < excluded.round

-- name: list_as_before
-- Index `kb_source_page_by_list`.
UPDATE kb_source_page SET round = %(round)s,
    status = CASE WHEN listed_version IS NULL THEN 'waiting' ELSE status END,
    attempts = CASE WHEN listed_version IS NULL THEN 0 ELSE attempts END
WHERE source_id = %(source)s AND listed_by = %(list)s AND round < %(round)s

-- name: drop_skipped
-- Index `kb_source_page_by_status`.
WITH dropped AS (
    SELECT id, file_id FROM kb_source_page
    WHERE source_id = %(source)s AND status IN ('skipped', 'gone') AND file_id IS NOT NULL
), cleared AS (
    UPDATE kb_source_page p SET file_id = NULL, etag = NULL, last_modified = NULL, version = NULL
    FROM dropped d WHERE p.id = d.id
)
INSERT INTO kb_unused_file SELECT DISTINCT file_id FROM dropped ON CONFLICT DO NOTHING

-- name: unchanged_list
-- Index `kb_source_page_by_list`.
UPDATE kb_source_page p SET read_at = now(), error = NULL, status = CASE WHEN EXISTS (
    SELECT FROM kb_source_page l WHERE l.source_id = p.source_id AND l.listed_by = p.id
) THEN 'listed' ELSE 'read' END WHERE p.id = %(list)s

-- name: page_is_list
UPDATE kb_source_page SET status = 'listed', read_at = now(), error = NULL, etag = %(etag)s,
    last_modified = %(last_modified)s
WHERE id = %(list)s

-- name: page_stored
UPDATE kb_source_page SET read_at = now(), etag = %(etag)s, last_modified = %(last_modified)s, name = %(name)s,
    version = listed_version
WHERE id = %(page)s

-- name: page_refused
UPDATE kb_source_page SET status = %(status)s, error = %(error)s, attempts = attempts + 1, version = listed_version
WHERE id = %(list)s

-- name: count_trouble
UPDATE kb_source SET trouble = CASE WHEN %(unreachable)s THEN trouble + 1 ELSE 0 END
WHERE id = %(source)s AND (trouble > 0 OR %(unreachable)s)

-- name: note_of_source
UPDATE kb_source SET note = left(concat_ws(' ', note, %(note)s::text), 1000) WHERE id = %(source)s

-- Web servers.

-- name: acquire_host
INSERT INTO web_host (key, free_at) VALUES (%(key)s, now() + %(seconds)s * interval '1 second')
ON CONFLICT (key) DO UPDATE SET free_at = excluded.free_at WHERE web_host.free_at <= now() RETURNING 0.0

-- name: wait_for_host
SELECT greatest(0.1, extract(epoch FROM free_at - now()))::float8 FROM web_host WHERE key = %(key)s

-- name: keep_robots
UPDATE web_host SET robots = coalesce(%(text)s, robots), robots_error = %(error)s,
    robots_until = now() + %(seconds)s * interval '1 second'
WHERE key = %(key)s
