internal import DunlinSemantics

/// The options of a request that say who asks or which way it goes.
///
/// The maker of an `Access` switches over them, and a journal saves the names of those that a request had and that must
/// be given again. A new option is classified here once.
package enum AccessSource: String, CaseIterable, Sendable {
    case credentials
    case authenticationHandler
    case cookies
    case secretFields
    case userInfo
    case proxy
    case hostOverrides
    case sockets
    case interfaces
    case `guard`

    static let all = allCases

    /// Whether it leads a request elsewhere: another origin is reached by it, too.
    package var isWay: Bool {
        switch self {
        case .proxy, .hostOverrides, .sockets, .interfaces: true
        case .credentials, .authenticationHandler, .cookies, .secretFields, .userInfo, .guard: false
        }
    }

    /// Those that a request's options have of their own, and that are never stored, but for the fields'.
    package static func own(_ options: HTTPSession.Options) -> Set<AccessSource> {
        Set(all.filter { $0.isOwn(options) })
    }

    private func isOwn(_ options: HTTPSession.Options) -> Bool {
        switch self {
        case .credentials: options.credentials.own != nil
        case .authenticationHandler: options.authenticationHandler != nil
        case .proxy: !options.proxy.isSession
        case .hostOverrides: options.hostOverrides != HTTPSession.HostOverrides()
        case .sockets: !options.sockets.isSession
        case .interfaces: !options.interfaces.isSession
        // The URL and the fields have them.
        case .userInfo, .cookies, .secretFields: false
        // It is stored.
        case .guard: false
        }
    }
}
