internal import DunlinTypes

/// A cookie's name, byte for byte: what Unicode takes for the same is two names to a server.
///
/// A cookie without a name is sent as its value. What stands before the first `=` of that is its name, whatever was
/// meant: `=sid=1` is sent as `sid=1`, and by a name that nobody saw it would get round every rule about `sid`.
struct CookieName: Sendable, Hashable {
    private let text: String
    /// The hash, which tells long names with a common beginning apart at once.
    private let digest: Int

    /// Creates the name that a server reads.
    init(_ cookie: HTTP.Cookie) {
        self.init(cookie.name.isEmpty ? Self.name(of: cookie.value[...]) : cookie.name)
    }

    /// Creates the given name; empty for none.
    init(_ name: String) {
        text = name
        digest = name.utf8.digest
    }

    var bytes: String.UTF8View { text.utf8 }

    /// Returns the name in a pair of a Cookie field; empty if there is no `=`.
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

/// The identity of a cookie within its domain: a later one with the same key replaces it. All cookies without a name
/// share one.
struct CookieKey: Sendable, Hashable {
    let name: CookieName
    let isHostOnly: Bool
    private let path: [UInt8]
    private let digest: Int

    init(_ cookie: HTTP.Cookie) {
        name = CookieName(cookie.name)
        isHostOnly = cookie.isHostOnly
        path = Array(cookie.path.utf8)
        digest = path.digest
    }

    static func == (left: CookieKey, right: CookieKey) -> Bool {
        left.digest == right.digest && left.isHostOnly == right.isHostOnly && left.name == right.name
            && left.path == right.path
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(digest)
    }
}

extension Sequence<UInt8> {
    /// The hash, only valid in this process. Names and paths are looked up several times, and may be long.
    fileprivate var digest: Int {
        var hasher = Hasher()
        let isHashed: Void? = withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isHashed == nil { for byte in self { hasher.combine(byte) } }
        return hasher.finalize()
    }
}
