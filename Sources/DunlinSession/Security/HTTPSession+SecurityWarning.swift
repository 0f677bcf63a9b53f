internal import Synchronization

extension HTTPSession {
    /// Something that makes a session less safe than it could be. Each warning is given once for a session.
    public struct SecurityWarning: Sendable, Hashable, CustomStringConvertible {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Every server is trusted (`SecurityPolicy.insecure`).
            case everyServerIsBelieved
            /// Certificates are trusted that lead to no root.
            case invalidCertificatesAreAllowed
            /// Certificates need not name the host.
            case hostNamesAreNotChecked
            /// There are pins, and the mode does not use them.
            case pinsAreIgnored
            /// The secrets of all connections are written to a file.
            case secretsAreLogged
            /// Issuers without a revocation list are trusted.
            case missingRevocationListsAreAllowed
            /// The authentication handler trusted a server that the policy refuses.
            case refusedServerWasBelieved
            /// Redirects from https to http are followed.
            case redirectsMayLoseProtection
            /// A password goes over http by Basic, where everybody on the way can read it.
            case passwordInClearText
        }

        public var kind: Kind
        /// One sentence for a person; nothing in it is secret.
        public var reason: String
        /// The host it happened with, if it was one.
        public var host: String?

        public init(_ kind: Kind, _ reason: String, host: String? = nil) {
            self.kind = kind
            self.reason = reason
            self.host = host
        }

        public var description: String { reason }
    }
}

/// Gives a session's warnings, each once.
final class SecurityWarnings: Sendable {
    private let tell: (@Sendable (HTTPSession.SecurityWarning) -> Void)?
    private let told = Mutex<Set<HTTPSession.SecurityWarning>>([])

    init(_ tell: (@Sendable (HTTPSession.SecurityWarning) -> Void)?) {
        self.tell = tell
    }

    var areTold: Bool { tell != nil }

    func note(_ warning: HTTPSession.SecurityWarning) {
        guard let tell else { return }
        // There is one warning of one kind for one host, however often and for whatever reason it happens.
        let mark = HTTPSession.SecurityWarning(warning.kind, "", host: warning.host)
        if told.withLock({ $0.insert(mark).inserted }) { tell(warning) }
    }
}

extension HTTPSession.TLS {
    /// What this configuration makes weaker.
    var warnings: [HTTPSession.SecurityWarning] {
        var warnings: [HTTPSession.SecurityWarning] = []
        if policy.isDeclaredInsecure, policy.allowInvalidCertificates, !policy.validatesDomainName, !policy.isPinning {
            warnings.append(.init(.everyServerIsBelieved, "certificates are not checked: every server is trusted"))
        } else {
            if policy.allowInvalidCertificates {
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
