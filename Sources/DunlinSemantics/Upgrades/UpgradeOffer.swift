package import DunlinTypes

/// The protocols that a request offers instead of HTTP, in order of preference, and whether a 101 is an answer to it
/// (RFC 9110 §7.8).
///
/// Rules:
/// 1. A protocol is a name, or a name and a version: `foo`, `foo/2`. Both are tokens. Names are compared without case,
///    versions exactly, and a name without a version is not the same as one with it.
/// 2. A request offers protocols by its field Upgrade, and only if its field Connection has the option `upgrade`.
/// 3. A 101 must have the option `upgrade` too, and its Upgrade names what the connection speaks from now on: one
///    protocol, or several in layers, the lowest first. Each must have been offered, and may be named once.
/// 4. A 101 has no body, so it may not announce one. What follows its head is not HTTP, and HTTP/1.0 has no 101.
///
/// It must not know connections, nor what the protocols are.
package struct UpgradeOffer: Sendable, Equatable {
    /// The protocols as they are offered, the preferred one first; at least one.
    package let protocols: [String]

    /// Creates an offer. Throws for names that are no protocols, for none, and for one that is offered twice.
    package init(_ protocols: [String]) throws(UpgradeError) {
        self.protocols = protocols
        guard !protocols.isEmpty else { throw .nothingOffered }
        var seen: Set<UpgradeProtocol> = []
        for text in protocols {
            guard let one = UpgradeProtocol(text) else { throw .invalidProtocol(text) }
            guard seen.insert(one).inserted else { throw .offeredTwice(text) }
        }
    }

    /// The offer in a request's fields; nil if they offer nothing.
    package init?(in fields: Fields) {
        guard Self.saysUpgrade(fields), let protocols = Self.protocols(in: fields), !protocols.isEmpty else {
            return nil
        }
        self.protocols = protocols
    }

    /// The value of the request's field Upgrade. Its field Connection has the value of `connectionOption`.
    package var fieldValue: String { protocols.joined(separator: ", ") }

    package static let connectionOption = "Upgrade"

    /// Returns the protocols that the connection speaks after this 101, the lowest first, each as it was offered.
    package func accepted(by head: ResponseHead) throws(UpgradeError) -> [String] {
        guard head.version == .http11 else { throw .ofHTTP10 }
        for name in ["Content-Length", "Transfer-Encoding"] where head.fields.contains(name) {
            throw .announcesBody(name)
        }
        guard Self.saysUpgrade(head.fields) else { throw .connectionSaysNothing }
        guard let named = Self.protocols(in: head.fields) else { throw .unreadable }
        guard !named.isEmpty else { throw .namesNothing }
        var accepted: [String] = []
        for text in named {
            guard let offered = protocols.first(where: { UpgradeProtocol($0) == UpgradeProtocol(text) }) else {
                throw .notOffered(text)
            }
            guard !accepted.contains(offered) else { throw .namedTwice(text) }
            accepted.append(offered)
        }
        return accepted
    }

    /// The protocols that an accepted 101 names, spelled as they are in `offered`.
    package static func named(in fields: Fields, as offered: [String]) -> [String] {
        (protocols(in: fields) ?? []).map { text in
            offered.first { UpgradeProtocol($0) == UpgradeProtocol(text) } ?? text
        }
    }

    /// Whether the field Connection has the option `upgrade`.
    private static func saysUpgrade(_ fields: Fields) -> Bool {
        fields.rawValues(of: "connection").contains { value in
            FieldNames.all(in: value)?.contains("upgrade") == true
        }
    }

    /// The protocols in all fields Upgrade; nil if one of the fields is no list of protocols.
    private static func protocols(in fields: Fields) -> [String]? {
        var protocols: [String] = []
        for value in fields.rawValues(of: "upgrade") {
            var reader = ValueReader(value)
            while true {
                repeat { reader.skipBlanks() } while reader.take(",")
                if reader.isAtEnd { break }
                let text = reader.takeAll { TokenCharacters.contains($0) || $0 == UInt8(ascii: "/") }
                let one = String(decoding: text, as: UTF8.self)
                guard UpgradeProtocol(one) != nil, reader.isAtElementEnd else { return nil }
                protocols.append(one)
            }
        }
        return protocols
    }
}

/// A protocol's name and version, as they are compared.
private struct UpgradeProtocol: Hashable {
    private let name: String
    private let version: String?

    /// Creates a protocol; nil unless name and version are tokens.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(TokenCharacters.contains) }) else { return nil }
        name = String(Substring(parts[0])).lowercased()
        version = parts.count > 1 ? String(Substring(parts[1])) : nil
    }
}
