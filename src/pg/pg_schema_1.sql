-- The keys of a cluster in PostgreSQL: format 1. Run once, in a transaction, with the schema in the
-- search path; then what makes the next formats of it. Functions have the number of their format, so
-- that nodes of two versions of peal can work beside each other: a later format adds its own and
-- leaves these.

CREATE TABLE kv (
    key bytea PRIMARY KEY,
    value bytea NOT NULL,
    create_rev bigint NOT NULL,
    mod_rev bigint NOT NULL,
    version bigint NOT NULL,
    lease bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX kv_by_lease ON kv (lease) WHERE lease <> 0;

-- One row. `incarnation` is drawn anew when somebody finds that commits were lost; `least` is the
-- lowest format that a peal must know.
CREATE TABLE kv_feed (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    rev bigint NOT NULL,
    incarnation bigint NOT NULL,
    format integer NOT NULL,
    least integer NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE kv_floor (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    rev bigint NOT NULL -- the first revision from which all changes are there
);

-- What each revision changed: arrays of one length, a NULL among the values for a deleted key.
CREATE TABLE kv_changes (
    rev bigint PRIMARY KEY,
    tag bigint NOT NULL, -- random, of the client: which transaction this was
    branches text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    keys bytea[] NOT NULL,
    vals bytea[] NOT NULL,
    creates bigint[] NOT NULL,
    versions bigint[] NOT NULL,
    leases bigint[] NOT NULL
);
CREATE TABLE kv_leases (
    id bigint PRIMARY KEY,
    ttl_ms bigint NOT NULL,
    beats bigint NOT NULL DEFAULT 0, -- how often it was renewed
    timeline text NOT NULL           -- of the server, as its owner has last compared it
) WITH (fillfactor = 50);

-- For people.
CREATE VIEW kv_shown AS
    SELECT encode(key, 'escape') AS key, encode(value, 'escape') AS value, create_rev, mod_rev,
           version, lease FROM kv;

-- For each level of a transaction: 0 not reached, 1 its compares hold, 2 they do not.
CREATE FUNCTION kv_judge_1(
    p_parent integer[], p_in_else boolean[],
    p_cmp_node integer[], p_cmp_key bytea[], p_cmp_target integer[], p_cmp_relation integer[],
    p_cmp_number bigint[])
RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_bad integer[];
    v_branch integer[] := array_fill(0, ARRAY[cardinality(p_parent)]);
    v_is_reached boolean;
BEGIN
    SELECT array_agg(DISTINCT c.node) INTO v_bad
    FROM unnest(p_cmp_node, p_cmp_key, p_cmp_target, p_cmp_relation, p_cmp_number)
             AS c (node, key, target, relation, number)
         LEFT JOIN kv ON kv.key = c.key
         CROSS JOIN LATERAL (SELECT coalesce(CASE c.target WHEN 0 THEN kv.version
                                                           WHEN 1 THEN kv.mod_rev
                                                           ELSE kv.lease END, 0) AS is) AS x
    WHERE NOT CASE c.relation WHEN 0 THEN x.is = c.number WHEN 1 THEN x.is > c.number
                              WHEN 2 THEN x.is < c.number ELSE x.is <> c.number END;
    FOR i IN 1 .. cardinality(p_parent) LOOP
        v_is_reached := p_parent[i] = 0
                        OR v_branch[p_parent[i]] = CASE WHEN p_in_else[i] THEN 2 ELSE 1 END;
        IF v_is_reached THEN
            v_branch[i] := CASE WHEN i = ANY (coalesce(v_bad, '{}')) THEN 2 ELSE 1 END;
        END IF;
    END LOOP;
    RETURN v_branch;
END $$;

-- Is an operation of level `node` (negative: in its else) carried out?
CREATE FUNCTION kv_taken_1(p_branch integer[], p_node integer)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_branch[abs(p_node)] = CASE WHEN p_node > 0 THEN 1 ELSE 2 END
$$;

-- Rows: `what` 1 a key of range `op`, 2 the count of its keys (in `version`). Flags: 1 keys only,
-- 2 count only.
CREATE FUNCTION kv_ranges_1(
    p_branch integer[], p_node integer[], p_op integer[], p_low bytea[], p_high bytea[],
    p_limit bigint[], p_sort integer[], p_max_create bigint[], p_flags integer[])
RETURNS TABLE (what integer, op integer, key bytea, value bytea, create_rev bigint, mod_rev bigint,
               version bigint, lease bigint) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_count bigint;
BEGIN
    FOR r IN SELECT * FROM unnest(p_node, p_op, p_low, p_high, p_limit, p_sort, p_max_create,
                                  p_flags)
                 AS u (node, op, low, high, most, sort, max_create, flags)
             WHERE kv_taken_1(p_branch, u.node) LOOP
        v_count := 0;
        IF r.flags & 2 = 0 AND r.sort = 0 THEN
            RETURN QUERY SELECT 1, r.op, kv.key,
                                CASE WHEN r.flags & 1 = 1 THEN ''::bytea ELSE kv.value END,
                                kv.create_rev, kv.mod_rev, kv.version, kv.lease
                         FROM kv WHERE kv.key >= r.low AND kv.key < r.high
                              AND (r.max_create = 0 OR kv.create_rev <= r.max_create)
                         ORDER BY kv.key LIMIT nullif(r.most, 0);
            GET DIAGNOSTICS v_count = ROW_COUNT;
        ELSIF r.flags & 2 = 0 THEN
            RETURN QUERY SELECT 1, r.op, kv.key,
                                CASE WHEN r.flags & 1 = 1 THEN ''::bytea ELSE kv.value END,
                                kv.create_rev, kv.mod_rev, kv.version, kv.lease
                         FROM kv WHERE kv.key >= r.low AND kv.key < r.high
                              AND (r.max_create = 0 OR kv.create_rev <= r.max_create)
                         ORDER BY CASE r.sort WHEN 2 THEN kv.create_rev WHEN 4 THEN kv.mod_rev END,
                                  CASE r.sort WHEN 3 THEN kv.create_rev WHEN 5 THEN kv.mod_rev END
                                      DESC,
                                  CASE r.sort WHEN 1 THEN kv.key END DESC, kv.key
                         LIMIT nullif(r.most, 0);
            GET DIAGNOSTICS v_count = ROW_COUNT;
        END IF;
        IF r.flags & 2 = 2 OR (r.most > 0 AND v_count = r.most) THEN
            SELECT count(*) INTO v_count
            FROM kv WHERE kv.key >= r.low AND kv.key < r.high
                 AND (r.max_create = 0 OR kv.create_rev <= r.max_create);
        END IF;
        RETURN QUERY SELECT 2, r.op, NULL::bytea, NULL::bytea, 0::bigint, 0::bigint, v_count,
                            0::bigint;
    END LOOP;
END $$;

-- The first row of an answer: the branches, the revision, the incarnation, and whether that revision
-- is the transaction's own.
CREATE FUNCTION kv_head_1(p_branches text, p_rev bigint, p_incarnation bigint, p_is_own boolean)
RETURNS TABLE (what integer, op integer, key bytea, value bytea, create_rev bigint, mod_rev bigint,
               version bigint, lease bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT 0, 0, NULL::bytea, convert_to(p_branches, 'UTF8'), p_rev, p_incarnation,
           p_is_own::int::bigint, 0::bigint
$$;

-- A transaction that only reads: all of it sees one snapshot.
CREATE FUNCTION kv_read_1(
    p_parent integer[], p_in_else boolean[],
    p_cmp_node integer[], p_cmp_key bytea[], p_cmp_target integer[], p_cmp_relation integer[],
    p_cmp_number bigint[],
    p_node integer[], p_op integer[], p_low bytea[], p_high bytea[],
    p_limit bigint[], p_sort integer[], p_max_create bigint[], p_flags integer[])
RETURNS TABLE (what integer, op integer, key bytea, value bytea, create_rev bigint, mod_rev bigint,
               version bigint, lease bigint) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_branch integer[];
BEGIN
    v_branch := kv_judge_1(p_parent, p_in_else, p_cmp_node, p_cmp_key, p_cmp_target,
                           p_cmp_relation, p_cmp_number);
    RETURN QUERY SELECT h.* FROM kv_feed f,
        LATERAL kv_head_1(array_to_string(v_branch, ''), f.rev, f.incarnation, false) h WHERE f.one;
    RETURN QUERY SELECT * FROM kv_ranges_1(v_branch, p_node, p_op, p_low, p_high, p_limit, p_sort,
                                           p_max_create, p_flags);
END $$;

-- The change with the next revision: to the feed, and to those who listen.
CREATE FUNCTION kv_tell_1(
    p_rev bigint, p_tag bigint, p_branches text, p_keys bytea[], p_vals bytea[],
    p_creates bigint[], p_versions bigint[], p_leases bigint[], p_notify boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE kv_feed SET rev = p_rev WHERE one;
    INSERT INTO kv_changes (rev, tag, branches, keys, vals, creates, versions, leases)
    VALUES (p_rev, p_tag, p_branches, p_keys, p_vals, p_creates, p_versions, p_leases);
    IF p_notify THEN
        PERFORM pg_notify('peal_kv_' || current_schema(), p_rev::text);
    END IF;
END $$;

-- A transaction that may write. The row of the feed is locked first, so that it is alone. `p_seen`
-- above -1: an earlier copy may have been done after that revision; then its answer is given again,
-- without what its ranges found. Flags: 1 notify, 2 the previous values are wanted.
CREATE FUNCTION kv_txn_1(
    p_parent integer[], p_in_else boolean[],
    p_cmp_node integer[], p_cmp_key bytea[], p_cmp_target integer[], p_cmp_relation integer[],
    p_cmp_number bigint[],
    p_node integer[], p_op integer[], p_low bytea[], p_high bytea[],
    p_limit bigint[], p_sort integer[], p_max_create bigint[], p_flags integer[],
    p_put_node integer[], p_put_op integer[], p_put_key bytea[], p_put_value bytea[],
    p_put_lease bigint[],
    p_del_node integer[], p_del_op integer[], p_del_low bytea[], p_del_high bytea[],
    p_tag bigint, p_seen bigint, p_how integer)
RETURNS TABLE (what integer, op integer, key bytea, value bytea, create_rev bigint, mod_rev bigint,
               version bigint, lease bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_rev bigint;
    v_incarnation bigint;
    v_branch integer[];
    v_done record;
    v_ops integer[];
    v_keys bytea[];
    v_vals bytea[];
    v_creates bigint[];
    v_versions bigint[];
    v_leases bigint[];
    v_gone bytea[];
    v_gone_ops integer[];
BEGIN
    SELECT f.rev, f.incarnation INTO v_rev, v_incarnation FROM kv_feed f WHERE f.one FOR UPDATE;
    IF p_seen >= 0 THEN
        SELECT c.rev, c.branches INTO v_done FROM kv_changes c WHERE c.rev > p_seen AND c.tag = p_tag;
        IF FOUND THEN
            RETURN QUERY SELECT * FROM kv_head_1(v_done.branches, v_done.rev, v_incarnation, true);
            RETURN;
        END IF;
    END IF;
    v_branch := kv_judge_1(p_parent, p_in_else, p_cmp_node, p_cmp_key, p_cmp_target,
                           p_cmp_relation, p_cmp_number);
    IF cardinality(p_node) > 0 THEN
        RETURN QUERY SELECT * FROM kv_ranges_1(v_branch, p_node, p_op, p_low, p_high, p_limit,
                                               p_sort, p_max_create, p_flags);
    END IF;
    SELECT array_agg(p.op ORDER BY p.op), array_agg(p.key ORDER BY p.op),
           array_agg(p.value ORDER BY p.op), array_agg(p.lease ORDER BY p.op),
           array_agg(coalesce(kv.create_rev, v_rev + 1) ORDER BY p.op),
           array_agg(coalesce(kv.version, 0) + 1 ORDER BY p.op)
    INTO v_ops, v_keys, v_vals, v_leases, v_creates, v_versions
    FROM unnest(p_put_node, p_put_op, p_put_key, p_put_value, p_put_lease)
             AS p (node, op, key, value, lease)
         LEFT JOIN kv ON kv.key = p.key
    WHERE v_branch[abs(p.node)] = CASE WHEN p.node > 0 THEN 1 ELSE 2 END;
    IF cardinality(p_del_node) > 0 THEN
        SELECT array_agg(d.op ORDER BY d.op, kv.key), array_agg(kv.key ORDER BY d.op, kv.key)
        INTO v_gone_ops, v_gone
        FROM unnest(p_del_node, p_del_op, p_del_low, p_del_high) AS d (node, op, low, high)
             JOIN kv ON kv.key >= d.low AND kv.key < d.high
        WHERE v_branch[abs(d.node)] = CASE WHEN d.node > 0 THEN 1 ELSE 2 END;
        RETURN QUERY SELECT 2, d.op, NULL::bytea, NULL::bytea, 0::bigint, 0::bigint,
                            (SELECT count(*) FROM unnest(v_gone_ops) g (op) WHERE g.op = d.op),
                            0::bigint
                     FROM unnest(p_del_node, p_del_op) AS d (node, op)
                     WHERE v_branch[abs(d.node)] = CASE WHEN d.node > 0 THEN 1 ELSE 2 END;
    END IF;
    IF p_how & 2 = 2 THEN
        RETURN QUERY SELECT 1, o.op, kv.* FROM unnest(v_ops || v_gone_ops, v_keys || v_gone)
                                                   AS o (op, k) JOIN kv ON kv.key = o.k;
    END IF;
    IF v_ops IS NULL AND v_gone IS NULL THEN
        RETURN QUERY SELECT * FROM kv_head_1(array_to_string(v_branch, ''), v_rev, v_incarnation,
                                             false);
        RETURN;
    END IF;
    v_rev := v_rev + 1;
    IF v_gone IS NOT NULL THEN
        DELETE FROM kv USING unnest(v_gone) AS g (k) WHERE kv.key = g.k;
    END IF;
    IF v_ops IS NOT NULL THEN
        PERFORM 1 FROM unnest(v_leases) AS l (id)
        WHERE l.id <> 0 AND NOT EXISTS (SELECT FROM kv_leases h WHERE h.id = l.id);
        IF FOUND THEN
            RAISE EXCEPTION 'the lease is gone' USING ERRCODE = 'PL404';
        END IF;
        INSERT INTO kv (key, value, create_rev, mod_rev, version, lease)
        SELECT u.k, u.v, u.c, v_rev, u.n, u.l
        FROM unnest(v_keys, v_vals, v_creates, v_versions, v_leases) AS u (k, v, c, n, l)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, mod_rev = excluded.mod_rev,
                                        version = excluded.version, lease = excluded.lease;
    END IF;
    IF v_gone IS NOT NULL THEN -- in the order of the operations
        SELECT array_agg(e.k ORDER BY e.op, e.k), array_agg(e.v ORDER BY e.op, e.k),
               array_agg(e.c ORDER BY e.op, e.k), array_agg(e.n ORDER BY e.op, e.k),
               array_agg(e.l ORDER BY e.op, e.k)
        INTO v_keys, v_vals, v_creates, v_versions, v_leases
        FROM (SELECT * FROM unnest(v_ops, v_keys, v_vals, v_creates, v_versions, v_leases)
              UNION ALL SELECT g.op, g.k, NULL, 0, 0, 0 FROM unnest(v_gone_ops, v_gone) g (op, k))
             AS e (op, k, v, c, n, l);
    END IF;
    PERFORM kv_tell_1(v_rev, p_tag, array_to_string(v_branch, ''), v_keys, v_vals, v_creates,
                      v_versions, v_leases, p_how & 1 = 1);
    RETURN QUERY SELECT * FROM kv_head_1(array_to_string(v_branch, ''), v_rev, v_incarnation,
                                         true);
END $$;

-- Ends a lease and deletes its keys, unless it was renewed since (`p_beats`; -1: in any case). Rows:
-- whether there was such a lease and it is gone now, the revision, the incarnation.
CREATE FUNCTION kv_revoke_1(p_id bigint, p_beats bigint, p_tag bigint, p_notify boolean)
RETURNS TABLE (done boolean, rev bigint, incarnation bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_rev bigint;
    v_incarnation bigint;
    v_keys bytea[];
BEGIN
    SELECT f.rev, f.incarnation INTO v_rev, v_incarnation FROM kv_feed f WHERE f.one FOR UPDATE;
    DELETE FROM kv_leases l WHERE l.id = p_id AND (p_beats < 0 OR l.beats = p_beats);
    IF NOT FOUND THEN
        RETURN QUERY SELECT false, v_rev, v_incarnation;
        RETURN;
    END IF;
    WITH gone AS (DELETE FROM kv WHERE kv.lease = p_id AND kv.lease <> 0 RETURNING kv.key)
    SELECT array_agg(g.key ORDER BY g.key) INTO v_keys FROM gone g;
    IF v_keys IS NOT NULL THEN
        v_rev := v_rev + 1;
        PERFORM kv_tell_1(v_rev, p_tag, '', v_keys,
                          array_fill(NULL::bytea, ARRAY[cardinality(v_keys)]),
                          array_fill(0::bigint, ARRAY[cardinality(v_keys)]),
                          array_fill(0::bigint, ARRAY[cardinality(v_keys)]),
                          array_fill(0::bigint, ARRAY[cardinality(v_keys)]), p_notify);
    END IF;
    RETURN QUERY SELECT true, v_rev, v_incarnation;
END $$;

-- Removes the changes before `p_rev`, but every thousandth, by which those can compare who were away
-- for long.
CREATE FUNCTION kv_compact_1(p_rev bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_floor bigint;
BEGIN
    UPDATE kv_floor SET rev = p_rev WHERE one AND kv_floor.rev < p_rev;
    SELECT f.rev INTO v_floor FROM kv_floor f WHERE f.one;
    DELETE FROM kv_changes c WHERE c.rev < v_floor AND c.rev % 1000 <> 0;
    RETURN v_floor;
END $$;

INSERT INTO kv_feed (rev, incarnation, format, least)
VALUES (1, ('x' || substr(md5(random()::text || clock_timestamp()::text), 1, 15))::bit(60)::bigint, 1,
        1);
INSERT INTO kv_floor (rev) VALUES (2);
