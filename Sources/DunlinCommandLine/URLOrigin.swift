package import Dunlin
internal import DunlinSemantics

/// What a URL says of whom a request is for, and of who asks.
package struct URLOrigin: Equatable, Sendable {
    package let origin: HTTP.Origin
    /// Whether the URL has a user's name before its host.
    package let namesUser: Bool
    /// The user's name, if the URL has one and no password. Secret, as all that may stand there.
    package let userWithoutPassword: String?
    /// The URL without what it has before its host.
    package let withoutUser: String

    /// Throws for a URL that cannot be requested.
    package init(of url: String) throws(UsageError) {
        do throws(AddressError) {
            let address = try WebAddress(url)
            (origin, namesUser) = (address.origin, address.userInfo != nil)
            let info = address.userInfo.flatMap { $0.password == nil && !$0.user.isEmpty ? $0 : nil }
            (userWithoutPassword, withoutUser) = (info?.user, WebAddress.withoutUserInfo(url))
        } catch {
            throw UsageError(description: error.description)
        }
    }
}
