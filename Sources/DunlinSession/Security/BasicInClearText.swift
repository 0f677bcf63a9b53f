internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// Whether user names and passwords are sent by Basic over http, where everybody on the way can read them.
    ///
    /// Requests within this machine (to a loopback address, `localhost` or a Unix socket) do not count as clear text,
    /// unless they go through a proxy, which may take them anywhere. Digest sends no password and is always allowed.
    public enum BasicInClearText: String, Sendable, Hashable, Codable, CaseIterable {
        /// Never. Requests with `.basic` credentials for such an origin fail with `clearTextRefused` before they are
        /// sent.
        case refused
        /// Where the program itself chose Basic, with a warning (`securityWarningHandler`). A Basic challenge, which
        /// anybody on the way could have made, is not answered: the request fails with `clearTextRefused`.
        case whereChosen
        /// **Lowers security.** Basic challenges are answered too, with a warning.
        case allowed
    }
}

/// Decides where Basic may be sent, and warns of it.
struct BasicRule: Sendable {
    let policy: HTTPSession.BasicInClearText
    let warnings: SecurityWarnings
    /// The rules for the connection that it is sent over; nil for the usual ones.
    private(set) var connectionRules: ConnectionRules?
    /// The terms chosen for what is to be sent: the chooser may choose another way each time.
    private var chosen: ChosenTerms?

    init(policy: HTTPSession.BasicInClearText, warnings: SecurityWarnings, connectionRules: ConnectionRules?) {
        (self.policy, self.warnings, self.connectionRules) = (policy, warnings, connectionRules)
    }

    /// Whether a password in clear text has any consequence.
    var judgesEachWay: Bool { policy == .refused || warnings.areTold }

    /// Whether the decision depends on the request's way.
    func dependsOnWay(_ head: RequestHead) -> Bool {
        connectionRules?.chooseProxy != nil && head.origin.scheme == .http && Self.isOnThisMachine(head.origin)
    }

    /// The rule for a request whose way has been chosen.
    func under(_ chosen: ChosenTerms) -> BasicRule {
        var rule = self
        rule.chosen = chosen
        return rule
    }

    /// The rule for a request that may have its own connection rules.
    func under(_ own: ConnectionRules?) -> BasicRule {
        guard let own else { return self }
        var rule = self
        rule.connectionRules = own
        return rule
    }

    /// Checks credentials that are sent unasked.
    func check(_ head: RequestHead) throws {
        if isProtected(head) { return }
        if policy == .refused {
            throw NetworkError(
                .clearTextRefused,
                "the password would be sent in clear text (Basic over http), and `basicInClearText` is `.refused`; use "
                    + "https or `.digest`, or set it to `.whereChosen`",
                peer: head.origin.description)
        }
        warn(head.origin)
    }

    /// Whether a challenge may be answered; warns if that is in clear text.
    func mayAnswer(_ head: RequestHead) -> Bool {
        guard allowsAnswer(head) else { return false }
        if !isProtected(head) { warn(head.origin) }
        return true
    }

    /// Whether a challenge may be answered; without a warning, since nothing is sent yet.
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

    /// Whether the request goes through a proxy. To a proxy elsewhere, a name or address of this machine means another
    /// machine. If the way is not known, it counts as unsafe.
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
