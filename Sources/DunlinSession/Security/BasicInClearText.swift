internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// Whether user names and passwords go over http by Basic, where everybody on the way can read them.
    ///
    /// What stays on this machine (a loopback address, `localhost`, a Unix socket) is not in clear text in this sense,
    /// unless a proxy is asked for it: that may take it anywhere. Digest sends no password, and may always answer.
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
    /// How the connection is made that it is sent over; nil for as usual.
    private(set) var connectionRules: ConnectionRules?
    /// The terms that were chosen for what is to be sent: whoever chooses may choose another way each time.
    private var chosen: ChosenTerms?

    init(policy: HTTPSession.BasicInClearText, warnings: SecurityWarnings, connectionRules: ConnectionRules?) {
        (self.policy, self.warnings, self.connectionRules) = (policy, warnings, connectionRules)
    }

    /// Whether anything comes of it that a password is in clear text.
    var judgesEachWay: Bool { policy == .refused || warnings.areTold }

    /// Whether it counts which way a request takes.
    func dependsOnWay(_ head: RequestHead) -> Bool {
        connectionRules?.chooseProxy != nil && head.origin.scheme == .http && Self.isOnThisMachine(head.origin)
    }

    /// The rule for a request whose way has been chosen.
    func under(_ chosen: ChosenTerms) -> BasicRule {
        var rule = self
        rule.chosen = chosen
        return rule
    }

    /// The rule for a request, which may have connection rules of its own.
    func under(_ own: ConnectionRules?) -> BasicRule {
        guard let own else { return self }
        var rule = self
        rule.connectionRules = own
        return rule
    }

    /// For credentials that are sent unasked.
    func check(_ head: RequestHead) throws {
        if isProtected(head) { return }
        if policy == .refused {
            throw NetworkError(
                .clearTextRefused, "the session sends no password in clear text; `basicInClearText` allows that",
                peer: head.origin.description)
        }
        warn(head.origin)
    }

    /// Whether a challenge may be answered.
    func mayAnswer(_ head: RequestHead) -> Bool {
        guard allowsAnswer(head) else { return false }
        if !isProtected(head) { warn(head.origin) }
        return true
    }

    /// The same without a warning, for nothing is sent yet.
    func allowsAnswer(_ head: RequestHead) -> Bool { isProtected(head) || policy == .allowed }

    private func warn(_ origin: HTTP.Origin) {
        warnings.note(
            .init(
                .passwordInClearText, "a password goes to \(origin.host) in clear text (Basic over http)",
                host: origin.host))
    }

    /// Whether nobody can listen on the way.
    private func isProtected(_ head: RequestHead) -> Bool {
        head.origin.scheme == .https || (Self.isOnThisMachine(head.origin) && !isProxied(head))
    }

    /// A name or an address of this machine means another one to a proxy that runs elsewhere. Where nobody can say
    /// which way it goes, it does not count as safe.
    private func isProxied(_ head: RequestHead) -> Bool {
        if let chosen, chosen.areFor(head) { return chosen.terms?.proxy != nil }
        do {
            if case .proxy(_)? = try connectionRules?.chooseProxy?(head) { return true }
            return false
        } catch {
            return true
        }
    }

    private static func isOnThisMachine(_ origin: HTTP.Origin) -> Bool {
        if let address = origin.route?.address { return address.isLoopback }
        let host = origin.host
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.first == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
