internal import DunlinReactor

extension HTTPSession {
    /// Whether user names and passwords go over http by Basic, where everybody on the way can read them.
    ///
    /// What stays on this machine (a loopback address, `localhost`, a Unix socket) is not in clear text in this sense.
    /// Digest sends no password, and may always answer.
    public enum BasicInClearText: String, Sendable, Hashable, Codable, CaseIterable {
        /// Never: requests with `.basic` credentials for such an origin fail with `clearTextRefused` before they are
        /// sent.
        case refused
        /// Where the program itself says Basic, with a warning (`securityWarningHandler`). A challenge that asks for
        /// it, which may be anybody's on the way, is not answered: the request fails with `clearTextRefused`.
        case whereChosen
        /// **Lowers security.** Challenges that ask for it are answered too, with a warning.
        case allowed
    }
}

/// Decides where Basic may be sent, and warns of it.
struct BasicRule: Sendable {
    let policy: HTTPSession.BasicInClearText
    let warnings: SecurityWarnings

    /// For credentials that are sent unasked.
    func check(_ origin: HTTP.Origin) throws {
        if Self.isProtected(origin) { return }
        if policy == .refused {
            throw NetworkError(
                .clearTextRefused, "the session sends no password in clear text (`basicInClearText`)",
                peer: origin.description)
        }
        warn(origin)
    }

    /// Whether a challenge may be answered. `isAllowed`: whoever gave the password allows it.
    func mayAnswer(at origin: HTTP.Origin, isAllowed: Bool) -> Bool {
        guard allowsAnswer(at: origin, isAllowed: isAllowed) else { return false }
        if !Self.isProtected(origin) { warn(origin) }
        return true
    }

    /// The same without a warning, for nothing is sent yet.
    func allowsAnswer(at origin: HTTP.Origin, isAllowed: Bool) -> Bool {
        if Self.isProtected(origin) { return true }
        return switch policy {
        case .refused: false
        case .whereChosen: isAllowed
        case .allowed: true
        }
    }

    private func warn(_ origin: HTTP.Origin) {
        warnings.note(
            .init(
                .passwordInClearText, "a password goes to \(origin.host) in clear text (Basic over http)",
                host: origin.host))
    }

    /// Whether nobody can listen on the way.
    private static func isProtected(_ origin: HTTP.Origin) -> Bool {
        if origin.scheme == .https { return true }
        if let address = origin.route?.address { return address.isLoopback }
        let host = origin.host
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.first == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
