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
}

extension HTTP.Cookie {
    fileprivate var pair: String { name.isEmpty ? value : "\(name)=\(value)" }
}
