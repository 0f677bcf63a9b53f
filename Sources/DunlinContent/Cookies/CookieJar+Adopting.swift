internal import DunlinSemantics

extension CookieJar {
    /// Adds cookies that were kept outside of a jar, such as in another program's file. Returns those that are refused,
    /// by the rules of `CookieStore.adopt`.
    package func adopt(_ cookies: [HTTP.Cookie]) -> [HTTP.Cookie] {
        withStore { $0.adopt(cookies, at: $1) }
    }
}
