import DunlinSemantics
import Glibc
import Testing

/// URLs that servers write so that naming them without secrets takes long.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Naming hostile URLs` {
    private static let beginnings = ["", "//", "http://a.test/?", "http://u:p/"]
    /// What is repeated, and the end.
    private static let texts = [
        ("//", "@"), ("//a:b@", ""), ("//a%3Ab", "%40"), ("//%25", ""), ("a%20/", ""), ("%3D", ""), ("?a=", ""),
        ("token=", ""), ("?token=&", ""), ("&", "=%"), ("#", "@"), ("\u{1F1E6}", "//@"), ("\u{301}", "@"), ("[", "]"),
    ]

    private static func time(of text: String) -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let start = now()
        let named = WebAddress.named(text)
        return named.isEmpty ? 0 : now() - start
    }

    /// Four times the text would take sixteen times as long where each byte looks at all others.
    @Test(arguments: beginnings, texts)
    func `naming a URL takes time in proportion to its length, whatever is in it`(
        beginning: String, rest: (String, String)
    ) {
        func text(_ count: Int) -> String {
            beginning + "x//@" + String(repeating: rest.0, count: count / rest.0.utf8.count) + rest.1
        }
        let (short, long) = (text(1 << 13), text(1 << 15))
        let growth = (0..<3).lazy.map { _ in Double(Self.time(of: long)) / Double(max(Self.time(of: short), 1)) }
        // Pages that are new to the process may make one of three slow.
        #expect(growth.contains { $0 < 9 })
    }
}
