package import DunlinTypes

/// What a response is stored under, beside the fields it depends on: the URL without its fragment (RFC 9111 §2).
///
/// The method is always GET. URLs that RFC 3986 §6.2.2 says are equal have one key: the case of percent-encoding does
/// not matter, and letters, digits and `-._~` are the same with and without it. An address that the request is to
/// connect to whatever its host's name stands for is part of the key, for another server may answer there; and so is a
/// Host field of the request's own, which names another resource of the same server (RFC 9110 §7.1).
package struct CacheKey: Sendable, Hashable {
    package let text: String

    /// Reads what `text` was.
    package init(text: String) {
        self.text = text
    }

    package init(origin: HTTP.Origin, target: String) {
        var text = origin.description
        text += Self.normal(target)
        if let address = origin.route?.address { text += " \(address)" }
        self.text = text
    }

    /// Creates the key of a request.
    package init(_ head: RequestHead) {
        self.init(origin: head.origin, target: head.target, of: head)
    }

    /// Creates the key of another target, for a request with this head.
    init(origin: HTTP.Origin, target: String, of head: RequestHead) {
        let usual = CacheKey(origin: origin, target: target)
        // Fields have no line breaks, so the parts stay distinct.
        text = Self.ownHost(of: head).map { "\(usual.text)\nHost: \($0)" } ?? usual.text
    }

    package static func == (left: CacheKey, right: CacheKey) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }

    /// Returns the Host field of a head that differs from its URL's; nil if there is none.
    package static func ownHost(of head: RequestHead) -> String? {
        guard let host = head.fields["host"]?.lowercased(), host != head.origin.authority else { return nil }
        return host
    }

    /// Whether it is the key `usual` with a Host field or an address of the request's own.
    package func isUnderOwnHost(of usual: CacheKey) -> Bool {
        // Targets have neither blanks nor line breaks.
        text.hasPrefix(usual.text + "\n") || text.hasPrefix(usual.text + " ")
    }

    /// The URL, and the address and Host field of the request's own; empty without.
    package var parts: (url: String, route: String) {
        // Targets have neither blanks nor line breaks.
        guard let end = text.utf8.firstIndex(where: { " \n".utf8.contains($0) }) else { return (text, "") }
        return (String(text[..<end]), String(text[end...]))
    }

    private static func normal(_ target: String) -> String {
        guard target.utf8.contains(UInt8(ascii: "%")) else { return target }
        let bytes = target.utf8.span
        var normal: [UInt8] = []
        normal.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "%"), let octet = PercentEncoding.octet(bytes, at: index, before: bytes.count)
            else {
                normal.append(byte)
                index += 1
                continue
            }
            if isUnreserved(octet) {
                normal.append(octet)
            } else {
                normal += [byte, upper(bytes[index + 1]), upper(bytes[index + 2])]
            }
            index += 3
        }
        return String(decoding: normal, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~".utf8.contains(byte)
    }

    private static func upper(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit & 0xDF : digit }
}

extension CacheKey: CustomStringConvertible, CustomReflectable {
    /// The key without secrets in the URL's query.
    package var description: String { described(hiding: .usual) }

    /// Returns the key without values that have secret names.
    package func described(hiding secret: HTTP.SecretFields) -> String { WebAddress.named(text, hiding: secret) }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
