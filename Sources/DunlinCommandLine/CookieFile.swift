package import Dunlin

/// A file of cookies in Netscape's format, which curl, wget and browsers' exporters read and write.
///
/// Rules:
/// 1. A line is a cookie of seven fields between tabs: domain, whether the hosts below it get the cookie, path, whether
///    it is secure, expiry, name, value. An empty value may be missing with its tab.
/// 2. The expiry is in seconds since 1970, perhaps with a fraction; 0 means that the cookie has none.
/// 3. A dot before the domain means nothing: the second field says what it would.
/// 4. `#HttpOnly_` before the domain is an attribute. Any other line that begins with `#` is a comment.
/// 5. A line ends with LF or CRLF, and the file perhaps with neither.
/// 6. A line that is no cookie is counted and skipped, and so is one that is too long.
///
/// It does not know which cookies a server may set, or the time: `CookieJar.adopt` judges the cookies.
package struct CookieFile: Equatable, Sendable {
    /// The cookies in the order of their lines.
    package private(set) var cookies: [HTTP.Cookie] = []
    /// The number of lines that are neither cookies nor comments.
    package private(set) var wrongLines = 0

    /// The greatest length of a file, in bytes. A full jar fits.
    package static let longest = 32 * 1024 * 1024
    /// The greatest length of a line, in bytes.
    package static let longestLine = 8 * 1024
    private static let attribute = Array("#HttpOnly_".utf8)
    /// The end of the year 9999.
    private static let latestExpiry: Int64 = 253_402_300_799

    package init(_ bytes: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        for line in text.split(separator: 0x0A, omittingEmptySubsequences: true) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            let isHTTPOnly = line.starts(with: Self.attribute)
            if line.first == UInt8(ascii: "#"), !isHTTPOnly { continue }
            if let cookie = Self.cookie(isHTTPOnly ? line.dropFirst(Self.attribute.count) : line, isHTTPOnly) {
                cookies.append(cookie)
            } else {
                wrongLines += 1
            }
        }
    }

    private static func cookie(_ line: ArraySlice<UInt8>, _ isHTTPOnly: Bool) -> HTTP.Cookie? {
        guard line.count <= longestLine, let text = String(validating: line, as: UTF8.self) else { return nil }
        var fields = text.utf8.split(separator: 0x09, omittingEmptySubsequences: false).map { String(Substring($0)) }
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, fields[2].utf8.first == UInt8(ascii: "/"), let coversBelow = flag(fields[1]),
            let isSecure = flag(fields[3]), let expiry = seconds(fields[4])
        else { return nil }
        let cookie = HTTP.Cookie(
            name: fields[5], value: fields[6], domain: domain(fields[0]), isHostOnly: !coversBelow, path: fields[2],
            expires: expiry == 0 ? nil : expiry, isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        return isWritable(cookie) ? cookie : nil
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    private static func seconds(_ text: String) -> Int64? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) else { return nil }
        return min(Int64(String(Substring(parts[0]))) ?? .max, latestExpiry)
    }

    /// In lower-case ASCII, without a leading dot, and without brackets around an address.
    private static func domain(_ text: String) -> String {
        let bytes = text.utf8.first == UInt8(ascii: ".") ? text.utf8.dropFirst() : text.utf8[...]
        let isInBrackets = bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]") && bytes.count > 2
        let host = isInBrackets ? bytes.dropFirst().dropLast() : bytes
        return String(decoding: host.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether a line can hold the cookie: no field has a tab or a line's end, and the line is no comment.
    private static func isWritable(_ cookie: HTTP.Cookie) -> Bool {
        let isPlain = [cookie.name, cookie.value, cookie.path].allSatisfy { text in
            !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        }
        return isPlain && cookie.problem == nil && cookie.domain.utf8.first != UInt8(ascii: "#")
    }
}

// MARK: - Writing

extension CookieFile {
    /// The text of a file with the cookies, and the number of those that no line can hold.
    package static func written(_ cookies: [HTTP.Cookie]) -> (text: String, leftOut: Int) {
        let lines = cookies.compactMap(line)
        // Readers in other languages want exactly this first line.
        let head = "# Netscape HTTP Cookie File\n# Written by dunlin. It is as secret as a password.\n\n"
        return (head + lines.joined(), cookies.count - lines.count)
    }

    private static func line(_ cookie: HTTP.Cookie) -> String? {
        let domain = (cookie.isHostOnly ? "" : ".") + cookie.domain
        let expiry = min(max(cookie.expires ?? 0, 0), latestExpiry)
        let fields = [
            (cookie.isHTTPOnly ? "#HttpOnly_" : "") + domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path,
            cookie.isSecure ? "TRUE" : "FALSE", "\(expiry)", cookie.name, cookie.value,
        ]
        let line = fields.joined(separator: "\t")
        return isWritable(cookie) && line.utf8.count <= longestLine ? line + "\n" : nil
    }
}
