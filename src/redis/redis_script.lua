-- The keys of a cluster in Redis: format 1. One script, loaded with two first lines: one for what may
-- run when memory is full, and one for the rest. ARGV[1] says what is to be done.
--
-- Everything is compared first and written last; the first write is the one that could be refused.
-- An entry is four numbers of 8 bytes (created, changed, version, lease) and the value.

local META, KEYS_, ORDER, FEED, TAGS, LEASES, BEATS, SEATS, RENEWED, BOUND, GUARD = unpack(KEYS)
local FORMAT = 1
local HEAD = 32   -- bytes of an entry before its value
local CHUNK = 1000 -- of arguments of a call: Lua's stack is limited
local call, pack, unpack_ = redis.call, struct.pack, struct.unpack

-- ---- small things ----

local function refuse(word)
    return redis.error_reply('PEAL ' .. word)
end

-- redis.call with any number of arguments: `width` of them belong together.
local function call_many(name, key, list, width)
    local step = CHUNK - CHUNK % width
    for first = 1, #list, step do
        call(name, key, unpack(list, first, math.min(first + step - 1, #list)))
    end
end

local function fields(keys)
    local found = {}
    if #keys > 0 and #keys <= CHUNK then
        return call('HMGET', KEYS_, unpack(keys))
    end
    for first = 1, #keys, CHUNK do
        local last = math.min(first + CHUNK - 1, #keys)
        local part = call('HMGET', KEYS_, unpack(keys, first, last))
        for i = 1, last - first + 1 do
            found[first + i - 1] = part[i]
        end
    end
    return found
end

-- The numbers of the entries of keys, each by the key's number; 0 where there is none (false).
local function numbers(entries, count)
    local made, changed, version, lease = {}, {}, {}, {}
    for i = 1, count do
        if entries[i] then
            made[i], changed[i], version[i], lease[i] = unpack_('>I8I8I8I8', entries[i])
        else
            made[i], changed[i], version[i], lease[i] = 0, 0, 0, 0
        end
    end
    return {made = made, changed = changed, version = version, lease = lease,
            [0] = version, changed, lease} -- the targets of a compare
end

local function lease_of(entry)
    return (unpack_('>I8', entry, 25))
end

local function meta()
    local m = call('HMGET', META, 'rev', 'tag', 'inc', 'floor', 'bytes', 'count')
    if not m[1] then
        return nil
    end
    return {rev = tonumber(m[1]), tag = m[2], inc = m[3], floor = tonumber(m[4]),
            bytes = tonumber(m[5]), count = tonumber(m[6])}
end

-- Somebody, or eviction, has removed a part of it: what is left must not be taken for the whole.
local function is_torn(m)
    return call('HLEN', KEYS_) ~= m.count or call('ZCARD', ORDER) ~= m.count or
           (m.rev > 1 and call('EXISTS', FEED, TAGS) ~= 2)
end

local function head(m)
    return {string.format('%.0f', m.rev), m.inc, m.tag, string.format('%.0f', m.floor)}
end

-- ---- a change ----

-- A length as the feed has it. Most are of the same few sizes.
local sizes = {}
local function size_of(text)
    local size = sizes[#text]
    if not size then
        size = pack('>I4', #text)
        sizes[#text] = size
    end
    return size
end

-- A change: {key, the entry from now on or false, whether there was one, the lease from now on, the
-- lease before}. What is refused, is so before the first write; then it returns the refusal.
local function write(m, changes, tag, branches)
    local blob, size, at, seen = {}, 0, 0, {}
    local set, gone, made, bind, unbind = {}, {}, {}, {}, {}
    local set_at, made_at = 0, 0
    local rev = m.rev + 1
    for i = 1, #changes do
        local change = changes[i]
        local key, entry, lease, old_lease = change[1], change[2], change[4], change[5]
        if seen[key] then
            return refuse('TWICE')
        end
        seen[key] = true
        if entry then
            set[set_at + 1], set[set_at + 2] = key, entry
            set_at = set_at + 2
            if not change[3] then
                made[made_at + 1], made[made_at + 2] = 0, key
                made_at = made_at + 2
            end
        else
            gone[#gone + 1] = key
            entry = ''
        end
        if lease ~= old_lease and old_lease ~= 0 then
            unbind[#unbind + 1] = pack('>I8', old_lease) .. key
        end
        if lease ~= 0 and call('HEXISTS', LEASES, string.format('%.0f', lease)) == 0 then
            return refuse('NOLEASE')
        end
        if lease ~= old_lease and lease ~= 0 then
            bind[#bind + 1] = 0
            bind[#bind + 1] = pack('>I8', lease) .. key
        end
        blob[at + 1], blob[at + 2], blob[at + 3], blob[at + 4] = size_of(key), key, size_of(entry), entry
        at = at + 4
        size = size + #key + #entry + 8
    end
    local id = string.format('%.0f-0', rev)
    call('XADD', FEED, id, 'c', table.concat(blob)) -- refused unless the id is a new one
    call('XADD', TAGS, id, 't', tag, 'b', branches)
    m.count = m.count + made_at / 2 - #gone
    call('HSET', META, 'rev', string.format('%.0f', rev), 'tag', tag, 'count', m.count,
         'bytes', string.format('%.0f', m.bytes + size + 64))
    call_many('HSET', KEYS_, set, 2)
    call_many('HDEL', KEYS_, gone, 1)
    call_many('ZADD', ORDER, made, 2)
    call_many('ZREM', ORDER, gone, 1)
    call_many('ZREM', BOUND, unbind, 1)
    call_many('ZADD', BOUND, bind, 2)
    m.rev, m.tag = rev, tag
end

-- ---- transactions ----

-- Below the level `node` = {compares, operations, operations else}; an operation on an inner level is
-- {3, node}. Compares are {key's number, target, relation, number, ...}. Branches go into `taken`, and
-- the operations that are carried out, in their order, into `ops`.
local function judge(node, known, taken, ops, is_reached)
    local compares, holds = node[1], true
    for i = 1, is_reached and #compares or 0, 4 do
        local is, relation, wanted = known[compares[i + 1]][compares[i]], compares[i + 2], compares[i + 3]
        if (relation == 0 and is ~= wanted) or (relation == 1 and is <= wanted) or
           (relation == 2 and is >= wanted) or (relation == 3 and is == wanted) then
            holds = false
        end
    end
    taken[#taken + 1] = not is_reached and '0' or holds and '1' or '2'
    for branch = 2, 3 do
        local list, is_taken = node[branch], is_reached and holds == (branch == 2)
        for i = 1, #list do
            local op = list[i]
            if op[1] == 3 then
                judge(op[2], known, taken, ops, is_taken)
            elseif is_taken then
                ops[#ops + 1] = op
            end
        end
    end
end

local function span(low, high)
    return '[' .. low, '(' .. high
end

-- Sorts: 1 by key, descending; 2, 3 by creation; 4, 5 by change.
local function sort_pairs(pairs_, how)
    local at = how >= 4 and 9 or 1
    local is_down = how == 1 or how == 3 or how == 5
    for i, pair in ipairs(pairs_) do
        pair[3] = how == 1 and i or unpack_('>I8', pair[2], at)
        pair[4] = i
    end
    table.sort(pairs_, function(a, b)
        if a[3] ~= b[3] then
            return (a[3] > b[3]) == is_down
        end
        return a[4] < b[4]
    end)
end

-- A range: {0, number, low, high, limit, sort, newest creation, keys only, count only}
local function range(op)
    local low, high = span(op[3], op[4])
    local limit, sort, newest = op[5], op[6], op[7]
    local result = {op[2], 0}
    if newest == 0 and (op[9] or (sort == 0 and limit > 0)) then
        result[2] = call('ZLEXCOUNT', ORDER, low, high)
    end
    if op[9] and newest == 0 then
        return result
    end
    local keys
    if sort == 0 and newest == 0 and limit > 0 then
        keys = call('ZRANGEBYLEX', ORDER, low, high, 'LIMIT', 0, limit)
    else
        keys = call('ZRANGEBYLEX', ORDER, low, high)
    end
    local entries, found = fields(keys), {}
    for i, key in ipairs(keys) do
        local entry = entries[i]
        if entry and (newest == 0 or (unpack_('>I8', entry, 1)) <= newest) then
            found[#found + 1] = {key, entry}
        end
    end
    if not (sort == 0 and newest == 0 and limit > 0) then
        result[2] = #found
    end
    if sort > 0 then
        sort_pairs(found, sort)
    end
    for i = 1, op[9] and 0 or (limit > 0 and math.min(limit, #found) or #found) do
        result[#result + 1] = found[i][1]
        result[#result + 1] = op[8] and found[i][2]:sub(1, HEAD) or found[i][2]
    end
    return result
end

-- A key alone: {4, number, key's number, keys only, count only}
local function single(op, keys, entries)
    local entry = entries[op[3]]
    if not entry then
        return {op[2], 0}
    end
    if op[5] then
        return {op[2], 1}
    end
    return {op[2], 1, keys[op[3]], op[4] and entry:sub(1, HEAD) or entry}
end

-- A put: {1, number, key's number, value, lease, wants the previous}; nil: it has found nothing, as
-- most. `fresh` is how the entry of a key begins that was not there, and gets no lease.
local function put(op, keys, entries, known, rev, fresh)
    local at, lease = op[3], op[5]
    local key, old = keys[at], entries[at]
    if not old then
        return {key, (lease == 0 and fresh or pack('>I8I8I8I8', rev, rev, 1, lease)) .. op[4], false, lease, 0}
    end
    local entry = pack('>I8I8I8I8', known.made[at], rev, known.version[at] + 1, lease) .. op[4]
    return {key, entry, true, lease, known.lease[at]}, op[6] and {op[2], 0, key, old} or nil
end

-- A delete: {2, number, low, high, wants the previous}, {5, number, key's number, wants it}
local function remove(op, keys, entries, changes)
    local result, doomed, olds, wants = {op[2], 0}, nil, nil, nil
    if op[1] == 5 then
        doomed, olds, wants = {keys[op[3]]}, {entries[op[3]]}, op[4]
    else
        local low, high = span(op[3], op[4])
        doomed = call('ZRANGEBYLEX', ORDER, low, high)
        olds, wants = fields(doomed), op[5]
    end
    for i, key in ipairs(doomed) do
        if olds[i] then
            result[2] = result[2] + 1
            changes[#changes + 1] = {key, false, true, 0, lease_of(olds[i])}
            if wants then
                result[#result + 1] = key
                result[#result + 1] = olds[i]
            end
        end
    end
    return result
end

-- An earlier copy of a transaction that was done after the revision `seen`: its answer.
local function answer_again(m, seen, tag)
    local first = string.format('(%.0f-0', seen)
    while true do
        local part = call('XRANGE', TAGS, first, '+', 'COUNT', 1000)
        for _, item in ipairs(part) do
            if item[2][2] == tag then
                local rev = item[1]:match('^%d+')
                call('INCR', GUARD) -- a write, for WAIT to wait for
                return {{rev, m.inc, tag, string.format('%.0f', m.floor)}, item[2][4], 1, {}}
            end
        end
        if #part < 1000 then
            return nil
        end
        first = '(' .. part[#part][1]
    end
end

-- ARGV: 2 {keys, tree} packed, 3 tag, 4 the revision after which an earlier copy may have been done,
-- or -1. Answer: head, branches, whether the revision is its own, a list for each operation that has found
-- something.
local function txn(m)
    local request = cmsgpack.unpack(ARGV[2])
    local keys, tree = request[1], request[2]
    local seen = tonumber(ARGV[4])
    local again = seen >= 0 and answer_again(m, seen, ARGV[3])
    if again then
        return again
    end
    local entries, taken, ops, changes, results = fields(keys), {}, {}, {}, {}
    local known, rev = numbers(entries, #keys), m.rev + 1
    local fresh = pack('>I8I8I8I8', rev, rev, 1, 0)
    judge(tree, known, taken, ops, true)
    for i = 1, #ops do
        local op = ops[i]
        local kind, result = op[1], nil
        if kind == 1 then
            changes[#changes + 1], result = put(op, keys, entries, known, rev, fresh)
        elseif kind == 0 then
            result = range(op)
        elseif kind == 4 then
            result = single(op, keys, entries)
        else
            result = remove(op, keys, entries, changes)
        end
        results[#results + 1] = result
    end
    local branches = table.concat(taken)
    local refusal = #changes > 0 and write(m, changes, ARGV[3], branches)
    return refusal or {head(m), branches, #changes > 0 and 1 or 0, results}
end

-- ---- lists and the feed ----

-- A page of a list. ARGV: 2 low, 3 high, 4 limit; after the first page low is exclusive (5).
local function page(m)
    local low, high = span(ARGV[2], ARGV[3])
    if ARGV[5] == '1' then
        low = '(' .. ARGV[2]
    end
    local keys = call('ZRANGEBYLEX', ORDER, low, high, 'LIMIT', 0, tonumber(ARGV[4]))
    local entries, found = fields(keys), {}
    for i, key in ipairs(keys) do
        found[#found + 1] = key
        found[#found + 1] = entries[i] or ''
    end
    return {head(m), found}
end

-- Changes after the revision ARGV[2], ARGV[3] at most.
local function changes(m)
    local after = string.format('(%.0f-0', tonumber(ARGV[2]))
    return {head(m), call('XRANGE', FEED, after, '+', 'COUNT', tonumber(ARGV[3]))}
end

-- Removes changes: all but the newest ARGV[2], and as many more as it takes to keep no more than
-- ARGV[3] bytes, though never the newest ARGV[4]. Tags are kept for ARGV[5] revisions.
local function compact(m)
    local low = math.max(m.floor, m.rev - tonumber(ARGV[2]))
    local excess = m.bytes - tonumber(ARGV[3])
    local last = m.rev - tonumber(ARGV[4])
    if excess > 0 and last > low then -- what is removed is of about the same size
        local kept = m.rev - low + 1
        low = math.min(last, low + math.ceil(kept * excess / m.bytes))
    end
    if low > m.floor then
        local before = m.rev - m.floor + 1
        local left = m.rev - low + 1
        call('HSET', META, 'floor', string.format('%.0f', low), 'bytes',
             string.format('%.0f', m.bytes * left / before))
        call('XTRIM', FEED, 'MINID', string.format('%.0f-0', low))
        call('XTRIM', TAGS, 'MINID', '~', string.format('%.0f-0', m.rev - tonumber(ARGV[5])))
        m.floor = low
    end
    return {head(m)}
end

-- ---- leases: a renewal raises a counter, without a revision ----

-- In ms, by this server's clock: only who settles a lease looks at it.
local function now()
    local time = call('TIME')
    return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function renew(id)
    call('HINCRBY', BEATS, id, 1)
    call('HSET', RENEWED, id, string.format('%.0f', now()))
end

-- ARGV: 2 id, 3 ttl in ms, 4 seat
local function grant(m)
    call('HSET', LEASES, ARGV[2], ARGV[3])
    if call('HSETNX', BEATS, ARGV[2], 0) == 0 then
        call('HINCRBY', BEATS, ARGV[2], 1)
    end
    call('HSET', RENEWED, ARGV[2], string.format('%.0f', now()))
    call('HSET', SEATS, ARGV[2], ARGV[4])
    return {head(m), 1}
end

-- ARGV: 2 id, 3 the counter that it must still have, or -1, 4 tag
local function revoke(m)
    local id = ARGV[2]
    local is_there = call('HEXISTS', LEASES, id) == 1
    if not is_there or (ARGV[3] ~= '-1' and call('HGET', BEATS, id) ~= ARGV[3]) then
        call('INCR', GUARD)
        return {head(m), 0}
    end
    local lease = pack('>I8', tonumber(id))
    local bound = call('ZRANGEBYLEX', BOUND, '[' .. lease, '(' .. pack('>I8', tonumber(id) + 1))
    local keys, changes = {}, {}
    for i, member in ipairs(bound) do
        keys[i] = member:sub(9)
    end
    table.sort(keys)
    local entries = fields(keys)
    for i, key in ipairs(keys) do
        if entries[i] then
            changes[#changes + 1] = {key, false, true, 0, lease_of(entries[i])}
        end
    end
    if #changes > 0 then
        write(m, changes, ARGV[4], '')
    end
    call('HDEL', LEASES, id)
    call('HDEL', BEATS, id)
    call('HDEL', SEATS, id)
    call('HDEL', RENEWED, id)
    return {head(m), 1}
end

-- ARGV: 2 id
local function beat(m)
    local ttl = call('HGET', LEASES, ARGV[2])
    if ttl then
        renew(ARGV[2])
    end
    return {head(m), ttl and tonumber(ttl) or 0}
end

local function look(m)
    local leases, beats, renewed, found = call('HGETALL', LEASES), call('HGETALL', BEATS),
                                          call('HGETALL', RENEWED), {}
    local count, at, time = {}, {}, now()
    for i = 1, #beats, 2 do
        count[beats[i]] = beats[i + 1]
    end
    for i = 1, #renewed, 2 do
        at[renewed[i]] = tonumber(renewed[i + 1])
    end
    for i = 1, #leases, 2 do
        local id = leases[i]
        found[#found + 1] = id
        found[#found + 1] = leases[i + 1]
        found[#found + 1] = count[id] or '0'
        found[#found + 1] = string.format('%.0f', time - (at[id] or time))
    end
    return {head(m), found}
end

-- ---- opening ----

-- Makes what is not there, and compares what its client has seen before. ARGV: 2-4 the revision that
-- was seen last, its tag and its incarnation (0: none), 5 a new incarnation, 6 the seat, which is
-- another one after each start and promotion of a server, 7 the leases of this client. Answer: head,
-- the lowest format that must be known, the data's own format, and how many leases are not of
-- this seat, whose owners have not compared yet.
local function open(m)
    local inc = ARGV[5]
    if not m then
        local what = call('TYPE', META)['ok']
        if what ~= 'none' and what ~= 'hash' then
            return refuse('FOREIGN')
        end
        call('DEL', KEYS_, ORDER, FEED, TAGS, LEASES, BEATS, SEATS, RENEWED, BOUND)
        call('HSET', META, 'rev', 1, 'tag', 0, 'inc', inc, 'floor', 2, 'bytes', 0, 'count', 0, 'format', FORMAT,
             'least', 1)
        m = meta()
    end
    local formats = call('HMGET', META, 'format', 'least')
    local seen, tag = tonumber(ARGV[2]), ARGV[3]
    if seen > 0 and ARGV[4] == m.inc then
        local id = string.format('%.0f-0', seen)
        local item = call('XRANGE', TAGS, id, id)[1]
        if m.rev < seen or (item and item[2][2] ~= tag) then
            call('HSET', META, 'inc', inc)
            m.inc = inc
        end
    end
    for lease in ARGV[7]:gmatch('%d+') do
        if call('HEXISTS', LEASES, lease) == 1 then
            call('HSET', SEATS, lease, ARGV[6])
        end
    end
    local others = 0
    for _, seat in ipairs(call('HVALS', SEATS)) do
        others = others + (seat ~= ARGV[6] and 1 or 0)
    end
    return {head(m), tonumber(formats[2]), tonumber(formats[1]), others}
end

-- ---- which ----

local what = ARGV[1]
local m = meta()
if m and is_torn(m) then
    return refuse('TORN')
elseif what == 'open' then
    return open(m)
elseif not m then
    return refuse('GONE')
end
local all = {txn = txn, page = page, changes = changes, compact = compact, grant = grant, revoke = revoke, beat = beat,
             look = look, head = function() return {head(m)} end}
return all[what](m)
