internal import Synchronization

extension HTTPSession {
    /// Something that makes a session less secure than it could be. Each warning is given once for a session.
    public struct SecurityWarning: Sendable, Hashable, CustomStringConvertible {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Every server is trusted (`SecurityPolicy.insecure`).
            case everyServerIsTrusted
            /// Certificates are trusted that do not lead to a root.
            case invalidCertificatesAreAllowed
            /// Certificates need not name the host.
            case hostNamesAreNotChecked
            /// There are pins, but the mode does not use them.
            case pinsAreIgnored
            /// The secrets of all connections are written to a file.
            case secretsAreLogged
            /// Issuers without a revocation list are trusted.
            case missingRevocationListsAreAllowed
            /// The authentication handler trusted a server that the policy refuses.
            case refusedServerWasTrusted
            /// Redirects from https to http are followed.
            case redirectsMayLoseProtection
            /// A password is sent by Basic over http, where everybody on the way can read it.
            case passwordInClearText
        }

        public var kind: Kind
        /// A sentence for a person, without secrets.
        public var reason: String
        /// The host concerned, if any.
        public var host: String?

        public init(_ kind: Kind, _ reason: String, host: String? = nil) {
            self.kind = kind
            self.reason = reason
            self.host = host
        }

        public var description: String { reason }
    }
}

/// Reports a session's warnings, each once.
final class SecurityWarnings: Sendable {
    private let tell: (@Sendable (HTTPSession.SecurityWarning) -> Void)?
    private let reported = Mutex<Set<HTTPSession.SecurityWarning>>([])

    init(_ tell: (@Sendable (HTTPSession.SecurityWarning) -> Void)?) {
        self.tell = tell
    }

    var areTold: Bool { tell != nil }

    func note(_ warning: HTTPSession.SecurityWarning) {
        guard let tell else { return }
        // Only one warning of a kind is given for a host, however often and for whatever reason it occurs.
        let mark = HTTPSession.SecurityWarning(warning.kind, "", host: warning.host)
        if reported.withLock({ $0.insert(mark).inserted }) { tell(warning) }
    }
}

extension HTTPSession.TLS {
    /// The warnings for this configuration.
    var warnings: [HTTPSession.SecurityWarning] {
        var warnings: [HTTPSession.SecurityWarning] = []
        if policy.isDeclaredInsecure, policy.allowsInvalidCertificates, !policy.validatesDomainName, !policy.isPinning {
            warnings.append(.init(.everyServerIsTrusted, "certificates are not checked: every server is trusted"))
        } else {
            if policy.allowsInvalidCertificates {
                warnings.append(
                    .init(.invalidCertificatesAreAllowed, "certificates are trusted without a chain to a root"))
            }
            if !policy.validatesDomainName {
                warnings.append(.init(.hostNamesAreNotChecked, "the host names in certificates are not checked"))
            }
        }
        if !policy.isPinning, !(policy.pins.isEmpty && policy.backupPins.isEmpty && policy.hosts.isEmpty) {
            warnings.append(.init(.pinsAreIgnored, "the pins are ignored: the pinning mode is none"))
        }
        if keyLog != .off {
            warnings.append(.init(.secretsAreLogged, "the TLS secrets of all connections may be written to a file"))
        }
        if !revocation.lists.isEmpty, revocation.allowsMissingLists {
            warnings.append(
                .init(
                    .missingRevocationListsAreAllowed,
                    "certificates are trusted though their issuer has no revocation list"))
        }
        return warnings
    }
}
