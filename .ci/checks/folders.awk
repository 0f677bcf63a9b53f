# Reads "path:line:code" and fails where a folder names a type that is declared in a folder which the table's row
# "Module/" puts after it, or "Module/Folder/" for the folders within one, at every level; `.` is what lies beside them.
# Of a row with the word `=` the folders may name each other: they are one room. A word `^Type` is the module's front,
# which all of its folders may name.
#
# A name that several folders declare, and one that its own file declares or has as a parameter of generic code, tells
# nothing and is passed over. So is one that only leads to another: `HTTPSession` in `HTTPSession.Options`, and all of
# `HTTP.Status` in a module that does not declare `HTTP`.

BEGIN {
    while ((getline row < table) > 0) {
        if (row ~ /^#/) continue
        count = split(row, word, " ")
        if (row ~ /^[^ \t]/) {
            owner = word[1] ~ /\/$/ ? substr(word[1], 1, length(word[1]) - 1) : ""
            if (owner != "") hasRow[owner] = 1
        }
        if (owner == "") continue
        for (i = row ~ /^[^ \t]/ ? 2 : 1; i <= count; i++) {
            if (word[i] == "=") isOne[owner] = 1
            else if (word[i] ~ /^\^/) front[owner, substr(word[i], 2)] = 1
            else place[owner, word[i]] = ++placed[owner]
        }
    }
    declaration = "(struct|class|enum|protocol|actor|typealias)[ \t]+`?[A-Z][A-Za-z0-9_]*"
}

{
    split($0, part, ":")
    path = part[1]; line = part[2]
    code = substr($0, length(path) + length(line) + 3)
    # What is nested in the standard library's errors is none of ours.
    gsub(/(De|En)codingError\.[A-Z][A-Za-z]*/, "", code)
    depth = split(path, step, "/")
    module = step[2]
    folder = ""
    owner = module
    for (i = 3; i <= depth; i++) {
        child = i < depth ? step[i] : "."
        if (!((owner, child) in seen)) seen[owner, child] = path
        if (child == ".") break
        hasFolders[owner] = 1
        folder = folder child "/"
        owner = owner "/" child
    }
    lines++
    text[lines] = code; where[lines] = path ":" line; file[lines] = path; room[lines] = folder; home[lines] = module

    rest = code
    while (match(rest, declaration)) {
        name = substr(rest, RSTART, RLENGTH)
        before = substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/.*[ \t`]/, "", name)
        own[path, name] = 1
        if (before ~ /private[ \t]/) continue
        if (!((module, name) in declared)) declared[module, name] = folder
        else if (declared[module, name] != folder) declared[module, name] = "*"
    }
    if (code ~ /(func|struct|class|enum|actor|init|typealias|subscript|associatedtype)[^A-Za-z]/ || code ~ /</) {
        rest = code
        while (match(rest, /[<,][ \t]*[A-Z][A-Za-z0-9_]*[ \t]*[,:>]/)) {
            name = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH - 1)
            gsub(/[^A-Za-z0-9_]/, "", name)
            if (code ~ /(func|struct|class|enum|actor|init|typealias|subscript)[^A-Za-z]/) own[path, name] = 1
        }
        rest = code
        if (match(rest, /associatedtype[ \t]+[A-Z][A-Za-z0-9_]*/)) {
            name = substr(rest, RSTART, RLENGTH)
            sub(/.*[ \t]/, "", name)
            own[path, name] = 1
        }
    }
}

END {
    for (key in seen) {
        split(key, part, SUBSEP)
        if (part[1] in hasFolders && !(key in place)) {
            print seen[key] ": folder " part[2] " is missing in the row of " part[1] " in " table
            broken = 1
        }
    }
    for (key in place) {
        split(key, part, SUBSEP)
        if (!(key in seen)) {
            print table ": " part[1] " has no folder " part[2]
            broken = 1
        }
    }
    for (i = 1; i <= lines; i++) if (home[i] in hasFolders) judge(i)
    exit broken
}

function judge(i,   rest, name, next_, target) {
    rest = text[i]
    # What an extension adds to lies where it is; the names after that are looked at.
    if (match(rest, /(^|[ \t])extension[ \t]+[A-Z][A-Za-z0-9_]*/)) {
        name = substr(rest, RSTART, RLENGTH)
        sub(/.*[ \t]/, "", name)
        rest = substr(rest, RSTART + RLENGTH)
        if (!((home[i], name) in declared)) sub(/^(\.[A-Za-z0-9_]+)+/, "", rest)
    }
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (name !~ /^[A-Z]/ || (file[i], name) in own) continue
        if (rest ~ /^\.[A-Z]/) {
            # What another module's type leads to is that module's.
            if (!((home[i], name) in declared)) sub(/^(\.[A-Za-z0-9_]+)+/, "", rest)
            continue
        }
        # Looking for it would make it one that is declared.
        if (!((home[i], name) in declared)) continue
        target = declared[home[i], name]
        if (target == "*" || target == room[i] || (home[i], name) in front) continue
        compare(i, name, target)
    }
}

# Compares two folders at the level where their paths part.
function compare(i, name, target,   own_, other, owner, mine, theirs, k) {
    split(room[i], own_, "/")
    split(target, other, "/")
    owner = home[i]
    for (k = 1; own_[k] != "" && own_[k] == other[k]; k++) owner = owner "/" own_[k]
    mine = own_[k] == "" ? "." : own_[k]
    theirs = other[k] == "" ? "." : other[k]
    if (owner in isOne || place[owner, theirs] <= place[owner, mine]) return
    print where[i] ": " mine " may not name " name ", which " theirs " declares: it stands after it in " table
    broken = 1
}
