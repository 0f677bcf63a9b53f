# Reads "path:line:code" and fails on an import that the table does not grant.

BEGIN {
    while ((getline row < table) > 0) {
        if (row ~ /^#/) continue
        # A row of folders is .ci/checks/folders' business.
        if (row ~ /^[^ \t]*\//) { owner = ""; continue }
        if (row ~ /^[ \t]/ && owner == "") continue
        count = split(row, word, " ")
        if (row ~ /^[^ \t]/) known[owner = word[1]] = 1
        for (i = row ~ /^[^ \t]/ ? 2 : 1; i <= count; i++) {
            mark = word[i] ~ /[+?]$/ ? substr(word[i], length(word[i])) : "."
            module = word[i]
            sub(/[+?]$/, "", module)
            granted[owner, module] = mark
        }
    }
    kinds = "^(struct|class|enum|protocol|typealias|func|let|var|macro|actor)[ \t]+"
}

{
    split($0, part, ":")
    path = part[1]; line = part[2]
    code = substr($0, length(path) + length(line) + 3)
    split(path, folder, "/")
    target = folder[2]
    if (folder[1] == "Sources") present[target] = 1
    if (folder[1] == "Sources" && !(target in known) && !(target in reported)) {
        reported[target] = 1
        fail("target " target " has no row in .ci/imports.table")
    }
    attributes = ""
    gsub(/`/, "", code)
    while (match(code, /(^|[^A-Za-z0-9_.])import([ \t]+|$)/)) {
        attributes = substr(code, 1, RSTART)
        code = substr(code, RSTART + RLENGTH)
        sub(kinds, "", code)
        match(code, /^[A-Za-z0-9_]*/)
        judge(substr(code, 1, RLENGTH), attributes)
        code = substr(code, RLENGTH + 1)
    }
}

END {
    for (key in granted) {
        split(key, part, SUBSEP)
        if (part[1] in present && !(key in used)) {
            print table ": " part[1] " imports no " part[2]
            broken = 1
        }
    }
    for (owner in known) if (!(owner in present)) {
        print table ": there is no target " owner
        broken = 1
    }
    exit broken
}

function judge(module, attributes,   mark) {
    if (module == "") { fail("write an import on one line"); return }
    if (module == "FoundationNetworking") { fail("nobody imports FoundationNetworking"); return }
    if (folder[1] != "Sources") return
    if (attributes ~ /@testable/) fail("@testable import in Sources")
    if (!(target in known)) return
    if (!((target, module) in granted)) { fail(target " may not import " module); return }
    used[target, module] = 1
    mark = granted[target, module]
    if (attributes ~ /@_exported/ && mark != "+") fail(target " may not re-export " module)
    if (mark == "?" && !explained()) fail(module " needs a comment on the same line that says why")
}

# The comment is gone from the code, so look at the line itself.
function explained(   raw, number) {
    number = 0
    while ((getline raw < path) > 0) if (++number == line) break
    close(path)
    return raw ~ /import[^\/]*\/\/ *[^ ]/
}

function fail(message) { print path ":" line ": " message; broken = 1 }
