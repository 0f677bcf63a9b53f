# Prints every line of the given Swift files as "path:line:code", with comments and the text of string literals blanked.
#
# The checks grep this instead of the raw source, so a word in a comment or a message is never mistaken for code, and
# code inside an interpolation is never mistaken for text. Knows: nested block comments, multi-line and raw strings,
# interpolations to any depth. Does not know regex literals; a mistake ends with its line unless a string is """.
#
# depth is the stack of what we are inside: "code" (an interpolation, with its open parentheses), "text" (a literal,
# with its delimiter) or "note" (block comments, with their nesting). At depth 0 we are in plain code.

FNR == 1 { depth = 0 }

{
    code = ""
    rest = $0
    while (rest != "") {
        if (depth > 0 && kind[depth] == "note") note()
        else if (depth > 0 && kind[depth] == "text") text()
        else plain()
    }
    while (depth > 0 && !spansLines()) depth--
    print FILENAME ":" FNR ":" code
}

function keep(count) { code = code substr(rest, 1, count); rest = substr(rest, count + 1) }
function drop(count) { code = code " "; rest = substr(rest, count + 1) }
function enter(what) { depth++; kind[depth] = what }

function plain(   hashes) {
    if (rest ~ /^\/\//) { rest = ""; return }
    if (rest ~ /^\/\*/) { enter("note"); nesting[depth] = 1; drop(2); return }
    if (match(rest, /^#*"/)) {
        hashes = substr(rest, 1, RLENGTH - 1)
        drop(RLENGTH - 1)
        enter("text")
        close_[depth] = (rest ~ /^"""/ ? "\"\"\"" : "\"") hashes
        escape[depth] = "\\" hashes
        drop(rest ~ /^"""/ ? 3 : 1)
        return
    }
    if (depth > 0) {
        if (rest ~ /^\(/) open[depth]++
        if (rest ~ /^\)/ && --open[depth] == 0) { depth--; keep(1); return }
    }
    keep(1)
}

function text(   end) {
    end = close_[depth]
    if (substr(rest, 1, length(end)) == end) { depth--; drop(length(end)); return }
    if (substr(rest, 1, length(escape[depth])) == escape[depth]) {
        drop(length(escape[depth]))
        if (rest ~ /^\(/) { enter("code"); open[depth] = 1; keep(1) } else if (rest != "") drop(1)
        return
    }
    drop(1)
}

function note() {
    if (rest ~ /^\/\*/) { nesting[depth]++; drop(2); return }
    if (rest ~ /^\*\//) { drop(2); if (--nesting[depth] == 0) depth--; return }
    drop(1)
}

# A one-line literal that is still open was misread; whatever lies in an open """ or comment goes on.
function spansLines(   level) {
    for (level = depth; level > 0; level--) {
        if (kind[level] == "note") return 1
        if (kind[level] == "text") return close_[level] ~ /"""/
    }
    return 0
}
