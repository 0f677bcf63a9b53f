public import DunlinTypes

/// The one Cookie field of a request.
public enum CookieField {
    /// Returns the caller's own Cookie fields, followed by the cookies with other names; nil if there are none.
    public static func joined(_ own: [String], _ cookies: [HTTP.Cookie]) -> String? {
        let own = own.filter { !$0.isEmpty }
        let names = Set(own.flatMap { $0.split(separator: ";").map { Array(CookieName.name(of: $0).utf8) } })
        let added = cookies.filter { names.isEmpty || !names.contains(Array(CookieName($0).bytes)) }.map(\.pair)
        return own.isEmpty && added.isEmpty ? nil : (own + added).joined(separator: "; ")
    }

    /// Returns what was joined to the caller's own Cookie fields; nil if nothing was.
    public static func added(to own: [String], in field: String?) -> String? {
        let own = own.filter { !$0.isEmpty }.joined(separator: "; ").utf8.count
        guard let field, field.utf8.count > own else { return nil }
        return String(decoding: field.utf8.dropFirst(own == 0 ? 0 : own + 2), as: UTF8.self)
    }
}

extension HTTP.Cookie {
    fileprivate var pair: String { name.isEmpty ? value : "\(name)=\(value)" }
}
