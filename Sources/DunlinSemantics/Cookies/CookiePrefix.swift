internal import DunlinTypes

/// The promise that a cookie's name makes (RFC 6265bis §5.7). Case is ignored, as some servers ignore it.
enum CookiePrefix {
    case none
    /// `__Secure-`: the cookie is secure.
    case secure
    /// `__Host-`: it is secure, and for one host and all its paths.
    case host
    /// The value of a cookie without a name begins like one: the cookie is sent as its value, which would look like a
    /// name that keeps a promise.
    case imitated

    init(name: String, value: String) {
        let text = (name.isEmpty ? value : name).lowercased()
        let prefix: Self = text.hasPrefix("__secure-") ? .secure : text.hasPrefix("__host-") ? .host : .none
        if case .none = prefix { self = .none } else { self = name.isEmpty ? .imitated : prefix }
    }
}

extension HTTP.Cookie {
    /// Whether the cookie keeps its name's promise.
    var meetsPrefix: Bool {
        switch CookiePrefix(name: name, value: value) {
        case .none: true
        case .secure: isSecure
        case .host: isSecure && isHostOnly && path == "/"
        case .imitated: false
        }
    }
}
