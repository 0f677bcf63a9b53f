public import DunlinTypes

/// The one Cookie field of a request.
public enum CookieField {
    /// What a caller's own Cookie fields say, and after it the cookies whose names they have not; nil for nothing.
    public static func joined(_ own: [String], _ cookies: [StoredCookie]) -> String? {
        let own = own.filter { !$0.isEmpty }
        let names = Set(own.flatMap { $0.split(separator: ";").map(name) })
        let added = cookies.filter { !names.contains(Array($0.name.utf8)) }.map(\.pair)
        return own.isEmpty && added.isEmpty ? nil : (own + added).joined(separator: "; ")
    }

    private static func name(_ pair: Substring) -> [UInt8] {
        let sign = pair.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = sign.map { pair.utf8[..<$0] } ?? pair.utf8[..<pair.startIndex]
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return Array(Array(name.drop(while: isBlank)).reversed().drop(while: isBlank).reversed())
    }
}

extension StoredCookie {
    fileprivate var pair: String { name.isEmpty ? value : "\(name)=\(value)" }
}
