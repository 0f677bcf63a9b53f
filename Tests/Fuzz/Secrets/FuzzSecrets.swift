import DunlinTypes
public import FuzzDriver
import Glibc

/// Text of servers that is printed without secrets. Whatever comes, a secret behind it is hidden too, and a text that
/// is four times as long takes about four times as long.
public enum FuzzSecrets: Fuzzer {
    private static let kinds: [SecretText.Kind] = [.text, .form, .link, .links]
    private static let secret = "hunter2"

    public static func violation(of input: [UInt8]) -> String? {
        let text = String(decoding: input, as: UTF8.self)
        for kind in kinds {
            if let violation = violation(of: text, kind) { return "\(kind): \(violation)" }
            if let violation = violation(ofTime: input, kind) { return "\(kind): \(violation)" }
        }
        return nil
    }

    private static func violation(of text: String, _ kind: SecretText.Kind) -> String? {
        let masked = SecretText.masked(text, as: kind)
        if masked.utf8.count > 4 * text.utf8.count + 3 { return "more than there was" }
        if text.contains(secret) { return nil }
        for ending in ["\nhttp://user:\(secret)@a.test/", "&token=\(secret)", "\n{\"password\":\"\(secret)\"}"]
        where SecretText.masked(text + ending, as: kind).contains(secret) { return "shows what ends in \(ending)" }
        return nil
    }

    // MARK: - Time

    /// Enough to show what is quadratic, and short enough to try many inputs.
    private static let length = 4 << 10
    /// Nanoseconds for each byte that are no reason to look closer.
    private static let usual: Int64 = 500

    /// What costs more than its length shows when it is repeated.
    private static func violation(ofTime input: [UInt8], _ kind: SecretText.Kind) -> String? {
        if input.isEmpty { return nil }
        let short = repeated(input, length)
        var worst = Int64.max
        // What else the machine does counts too: only what is slow each time is slow.
        for _ in 0..<3 {
            let before = time(of: short, kind)
            if before < usual * Int64(length) { return nil }
            let after = time(of: repeated(input, 4 * length), kind)
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
    private static func time(of text: String, _ kind: SecretText.Kind) -> Int64 {
        let start = now()
        let masked = SecretText.masked(text, as: kind)
        return masked.isEmpty ? 0 : now() - start
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
