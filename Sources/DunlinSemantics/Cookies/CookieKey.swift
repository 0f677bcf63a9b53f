internal import DunlinTypes

/// The name that a server reads, byte for byte: what Unicode takes for the same is two names to a server.
///
/// A cookie without a name is sent as its value. What stands before the first `=` of that is its name, whatever was
/// meant: `=sid=1` is sent as `sid=1`, and by a name that nobody saw it would get round every rule about `sid`.
struct CookieName: Sendable, Hashable {
    private let text: String
    /// So that long names which are alike in the beginning are told apart at once.
    private let digest: Int

    init(_ cookie: StoredCookie) {
        text = cookie.name.isEmpty ? Self.name(of: cookie.value[...]) : cookie.name
        var hasher = Hasher()
        for byte in text.utf8 { hasher.combine(byte) }
        digest = hasher.finalize()
    }

    var bytes: String.UTF8View { text.utf8 }

    /// Of a pair as it stands in a Cookie field; empty if there is no `=` in it.
    static func name(of pair: Substring) -> String {
        guard let sign = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return "" }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let name = pair.utf8[..<sign].drop(while: isBlank)
        guard let last = name.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: name[...last], as: UTF8.self)
    }

    static func == (left: CookieName, right: CookieName) -> Bool {
        left.digest == right.digest && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}

/// What makes two cookies of a domain the same one: the later replaces the earlier.
struct CookieKey: Sendable, Hashable {
    let name: CookieName
    let isHostOnly: Bool
    private let path: [UInt8]

    init(_ cookie: StoredCookie) {
        name = CookieName(cookie)
        isHostOnly = cookie.isHostOnly
        path = Array(cookie.path.utf8)
    }
}
