internal import DunlinReactor
internal import DunlinRules
internal import DunlinSemantics
internal import DunlinTransport

extension Sending {
    /// The step of a hop that has been answered.
    func step(_ answer: TransportResponse, to access: Access, sentAt: Int64) -> Provenance.Step {
        // A stored answer was not sent for.
        let sent = sent?.head ?? access.head
        var head = access.head
        head.fields["cookie"] = sent.fields["cookie"]
        let stored = callHistory?.steps.stored
        // The cache gives a user also what was requested without credentials, and what is for others too: of a redirect
        // only where it leads counts, and of a body nobody knows whose it was.
        let isForOthers = answer.head.isForEverybody
        let isNobodys =
            RedirectRules.isRedirect(answer.head.status) && isForOthers || stored?.isEverybodys == true && !isForOthers
        let isUnknown = !isNobodys && stored?.isEverybodys == true
        func named(jarCounts: Bool) -> Bytes? {
            if isUnknown { return nil }
            return isNobodys ? Self.nobody : name(access, head, jarCounts: jarCounts)
        }
        let jar = asking.jar.flatMap { jar in named(jarCounts: true).map { (jar: jar, name: $0) } }
        func withJar(_ cookies: String?) -> Bytes? { jar.map { Self.naming(cookies, behind: $0.name) } }
        let isNamed = stored?.wasNamed ?? CredentialFields.areNamed(sent.fields, access.secretFields)
        let names = Provenance.Step.Names(
            named(jarCounts: session.user.isNamed), withJar: withJar(head.fields["cookie"]),
            // By now the jar has those that the answer has set.
            afterwards: withJar(jar?.jar.completing(access.request).head.fields["cookie"]),
            isNamed: isNamed && !isNobodys)
        let confirmation = confirmation(of: access, over: answer.hop)
        return Provenance.Step(
            CacheRequest(head, by: access.asker), sent: sent, answer.head, names, rules: access.rules,
            isConfirmed: confirmation != .otherUser, isElsewhere: confirmation == .elsewhere, sentAt: sentAt,
            receivedAt: WallClock.seconds)
    }

    /// The user whom a session's handler named by a password counts too: it may name another at any challenge. If only
    /// code of the request's own knows who asks, only this call goes on, and only with the same credentials.
    private func name(_ access: Access, _ head: RequestHead, jarCounts: Bool) -> Bytes? {
        var fields = sent?.head.fields ?? access.head.fields
        // Of Digest only the name of the user counts, since the rest belongs to one request.
        let password = fields["authorization"].flatMap(Self.named)
        var user: String
        switch asking.user(of: access.request, head, access.setup, jarCounts: jarCounts) {
        case .nobody: user = "nobody"
        case .known(let name):
            user = "known \(name.string)"
            if session.configuration.authenticationHandler != nil { user += password ?? "" }
        case .unknown:
            fields["authorization"] = password ?? fields["authorization"]
            let sent = CacheAsker(fields: fields, hiding: access.secretFields).name?.array ?? []
            user = "unknown \(session.user.number) \(delegate.id) \(Bytes(sent).hex)"
        }
        return access.asker(.known(ExactText(user))).name
    }

    /// A text with the names of cookies: other values may be another session of the same user's, and other names a
    /// login.
    private static func naming(_ cookies: String?, behind name: Bytes) -> Bytes {
        let names = (cookies ?? "").parts(at: UInt8(ascii: ";")).map { pair in
            String(pair.prefix { $0 != "=" }.drop { $0 == " " })
        }
        return Bytes(name.array + " with \(Set(names).sorted())".utf8)
    }

    private static let nobody = CacheAsker(user: "nobody", fields: Fields()).name

    /// The user whom a password names; nil for another credential.
    private static func named(by credential: String) -> String? {
        switch credential.prefix(while: { $0 != " " }).lowercased() {
        case "basic": credential
        case "digest": credential.firstRange(of: ", realm=").map { String(credential[..<$0.lowerBound]) }
        default: nil
        }
    }
}

/// The access of a hop, and when it was sent. An object, because most sendings have none, and all would be larger.
final class NotedAccess: Sendable {
    let access: Access
    let sentAt: Int64

    init(_ access: Access, sentAt: Int64) {
        (self.access, self.sentAt) = (access, sentAt)
    }
}

extension Sending {
    /// Notes who asks now. Until a hop is answered, it is noted again whenever it is sent again.
    mutating func noteAccess() throws {
        noted = NotedAccess(try access(to: request), sentAt: WallClock.seconds)
    }
}
