package import DunlinTypes

/// What a response is stored under, beside the fields it depends on: the URL without its fragment (RFC 9111 §2).
///
/// The method is always GET. URLs that RFC 3986 §6.2.2 says are equal have one key: the case of percent-encoding does
/// not matter, and letters, digits and `-._~` are the same with and without it. An address that the request is to
/// connect to whatever its host's name stands for is part of the key, for another server may answer there; and so is a
/// Host field of the request's own, which names another resource of the same server (RFC 9110 §7.1).
package struct CacheKey: Sendable, Hashable {
    package let text: String
    /// The hash of the text: a key is looked up in several tables, some of them more than once.
    private let hashed: Int

    /// Reads what `text` was.
    package init(text: String) {
        self.text = text
        var hasher = Hasher()
        hasher.combine(bytesOf: text)
        hashed = hasher.finalize()
    }

    package init(origin: HTTP.Origin, target: String) {
        self.init(text: Self.text(origin, target))
    }

    private static func text(_ origin: HTTP.Origin, _ target: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(8 + origin.authority.utf8.count + target.utf8.count)
        text += origin.scheme.prefix.utf8
        text += origin.authority.utf8
        appendNormal(target, to: &text)
        if origin.isRouted, let address = origin.route?.address { text += " \(address)".utf8 }
        return String(decoding: text, as: UTF8.self)
    }

    /// Creates the key of a request.
    package init(_ head: RequestHead) {
        self.init(origin: head.origin, target: head.target, of: head)
    }

    /// Creates the key of another target, for a request with this head.
    init(origin: HTTP.Origin, target: String, of head: RequestHead) {
        var text = Self.text(origin, target)
        // Fields have no line breaks, so the parts stay distinct.
        if let host = Self.ownHost(of: head) { text += "\nHost: \(host)" }
        self.init(text: text)
    }

    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.hashed == right.hashed && left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hashed) }

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

    private static func appendNormal(_ target: String, to text: inout [UInt8]) {
        guard target.utf8.contains(UInt8(ascii: "%")) else { return text += target.utf8 }
        let bytes = target.utf8.span
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "%"), let octet = PercentEncoding.octet(bytes, at: index, before: bytes.count)
            else {
                text.append(byte)
                index += 1
                continue
            }
            if isUnreserved(octet) {
                text.append(octet)
            } else {
                text.append(byte)
                text.append(upper(bytes[index + 1]))
                text.append(upper(bytes[index + 2]))
            }
            index += 3
        }
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
