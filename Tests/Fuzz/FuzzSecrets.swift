import DunlinSemantics
import DunlinTypes
import Glibc

/// Text of servers that is printed without secrets. Whatever comes, a secret behind it is hidden too, and a text that
/// is four times as long takes about four times as long.
enum FuzzSecrets {
    private typealias Masking = (String) -> String

    private static let kinds: [SecretText.Kind] = [.form, .link, .links]
    private static let secret = "hunter2"
    private static let endings = [
        "\nhttp://user:\(secret)@a.test/", "&token=\(secret)", "\n{\"password\":\"\(secret)\"}",
    ]
    private static let endingsOfURL = [
        "?token=\(secret)", "&u=%3Ftoken%3D\(secret)", "?u=http%3A//user%3A\(secret)%40a.test/",
    ]

    static func violation(of input: [UInt8]) -> String? {
        let text = String(decoding: input, as: UTF8.self)
        for kind in kinds {
            let masking: Masking = { SecretText.masked($0, as: kind) }
            if let violation = violation(of: text, endings, masking) ?? violation(ofTime: input, masking) {
                return "\(kind): \(violation)"
            }
        }
        let masking: Masking = { WebAddress.named($0) }
        return (violation(of: text, endingsOfURL, masking) ?? violation(ofTime: input, masking)).map { "URL: \($0)" }
    }

    private static func violation(of text: String, _ endings: [String], _ masking: Masking) -> String? {
        let masked = masking(text)
        if masked.utf8.count > 4 * text.utf8.count + 3 { return "more than there was" }
        if text.contains(secret) { return nil }
        for ending in endings where masking(text + ending).contains(secret) { return "shows what ends in \(ending)" }
        return nil
    }

    // MARK: - Time

    /// Enough to show what is quadratic, and short enough to try many inputs.
    private static let length = 4 << 10
    /// Nanoseconds for each byte that are no reason to look closer.
    private static let usual: Int64 = 500

    /// What costs more than its length shows when it is repeated.
    private static func violation(ofTime input: [UInt8], _ masking: Masking) -> String? {
        if input.isEmpty { return nil }
        let short = repeated(input, length)
        var worst = Int64.max
        // What else the machine does counts too: only what is slow each time is slow.
        for _ in 0..<3 {
            let before = time(of: short, masking)
            if before < usual * Int64(length) { return nil }
            let after = time(of: repeated(input, 4 * length), masking)
            if after < 8 * before { return nil }
            worst = min(worst, after / max(before, 1))
        }
        return "four times the text takes \(worst) times as long"
    }

    private static func repeated(_ input: [UInt8], _ length: Int) -> String {
        var bytes: [UInt8] = []
        while bytes.count < length { bytes += input }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Of this thread alone, in nanoseconds.
    private static func time(of text: String, _ masking: Masking) -> Int64 {
        let start = now()
        let masked = masking(text)
        return masked.isEmpty ? 0 : now() - start
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
