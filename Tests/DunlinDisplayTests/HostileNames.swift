/// What a server may call a file.
enum HostileNames {
    /// With what is shown of them.
    static let all: [(String, String)] = [
        ("plain.txt", "plain.txt"),
        ("\u{1B}[2J\u{1B}[Hgone", "[2J[Hgone"),
        ("\u{1B}]0;title\u{07}x", "]0;titlex"),
        ("\u{9B}31mred", "31mred"),
        ("one\r\ntwo\tthree", "one  two three"),
        ("a\u{8}\u{8}b\u{7F}c\0d", "abcd"),
        ("txt.\u{202E}gpj.exe", "txt.gpj.exe"),
        ("\u{2066}x\u{2069}\u{200F}\u{61C}\u{FEFF}y\u{AD}", "xy"),
        ("a\u{2028}b\u{2029}c\u{A0}d\u{3000}e", "a b c d e"),
        ("\u{1F468}\u{200D}\u{1F469}", "\u{1F468}\u{1F469}"),
        ("❤\u{FE0F}\u{E0041}", "❤"),
        ("\u{E000}\u{FFFF}\u{10FFFF}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("日本語.zip", "日本語.zip"),
        ("z" + String(repeating: "\u{301}", count: 50), "z" + String(repeating: "\u{301}", count: 4)),
    ]
}
