package import Dunlin
internal import DunlinSemantics

/// What a URL says of whom a request is for, and of who asks.
package struct URLOrigin: Equatable, Sendable {
    package let origin: HTTP.Origin
    /// Whether the URL has a user's name before its host.
    package let namesUser: Bool

    /// Throws for a URL that cannot be requested.
    package init(of url: String) throws(UsageError) {
        do throws(AddressError) {
            let address = try WebAddress(url)
            (origin, namesUser) = (address.origin, address.userInfo != nil)
        } catch {
            throw UsageError(description: error.description)
        }
    }
}
