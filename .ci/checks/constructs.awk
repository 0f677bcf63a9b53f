# Reads "source:path:line:code" or "test:path:line:code" and fails on a construct that the list does not allow there.

BEGIN {
    word = "(^|[^A-Za-z0-9_])"
    pattern["unsafe"] = "@unchecked|nonisolated *\\( *unsafe *\\)|" word "Unmanaged([^A-Za-z0-9_]|$)"
    pattern["trap"] = word "(fatalError|preconditionFailure)[^A-Za-z0-9_]|" word "(try|as)!"
    pattern["try?"] = word "try\\?"
    pattern["print"] = "(^|[^A-Za-z0-9_.]|Swift\\.)(print|debugPrint) *\\("
    pattern["sleep"] = "Task\\.sleep|(^|[^A-Za-z0-9_.])(Glibc\\.)?(sleep|usleep|nanosleep) *\\("
    # What it begins inherits the values of tasks; see "Unstructured tasks" in Docs/Concurrency.md.
    pattern["task"] = word "Task *[({]|" word "Task\\.(init|immediate)[^A-Za-z]|[=(:] *Task<[^={(]*> *[({]"
    scope["unsafe"] = scope["trap"] = scope["try?"] = scope["print"] = scope["task"] = "source"
    scope["sleep"] = "test"
    while ((getline row < list) > 0) {
        if (row ~ /^#/ || split(row, field, /[ \t]+/) == 0) continue
        allowed[field[1], field[2]] = field[3]
        if (field[4] == "") { print list ": no reason for " field[1] " in " field[2]; broken = 1 }
        if (!(field[1] in pattern)) { print list ": unknown kind " field[1]; broken = 1 }
        split("", field)
    }
}

{
    split($0, part, ":")
    path = part[2]; line = part[3]
    code = substr($0, length(part[1]) + length(path) + length(line) + 4)
    for (kind in pattern)
        if (scope[kind] == part[1] && code !~ /func print/)
            for (rest = code; match(rest, pattern[kind]); rest = substr(rest, RSTART + RLENGTH)) found(kind)
}

END {
    for (row in allowed) {
        split(row, field, SUBSEP)
        if (allowed[row] == "*") continue
        if (seen[row] == 0) fail(list, field[1] " in " field[2] " is stale: take the row out")
        else if (seen[row] > allowed[row])
            fail(field[2], field[1] " stands " seen[row] " times, " list " allows " allowed[row])
    }
    exit broken
}

function found(kind,   place) {
    place = path
    if (!((kind, place) in allowed)) { place = path; sub(/[^\/]*$/, "", place) }
    while (!((kind, place) in allowed) && sub(/[^\/]+\/$/, "", place)) {}
    if (!((kind, place) in allowed)) {
        fail(path ":" line, kind " (" trimmed() ") is not in " list)
        return
    }
    seen[kind, place]++
    if (kind == "unsafe" && !reasoned()) fail(path ":" line, "no // SAFETY: comment just above (" trimmed() ")")
}

# A SAFETY comment within the eight lines above, or on the line itself.
function reasoned(   raw, number, last) {
    number = 0; last = -100
    while ((getline raw < path) > 0) {
        number++
        if (raw ~ /\/\/ SAFETY: *[^ ]/) last = number
        if (number == line) break
    }
    close(path)
    return line - last <= 8
}

function trimmed(   text) { text = code; sub(/^ +/, "", text); sub(/ +$/, "", text); return text }
function fail(place, message) { print place ": " message; broken = 1 }
