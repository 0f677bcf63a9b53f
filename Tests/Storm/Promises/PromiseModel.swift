import Dunlin

/// What came of a call.
struct PromiseOutcome: Sendable {
    enum End: Sendable {
        case response(HTTP.Status, head: Answered?, body: [Answered], bytes: Int, isText: Bool)
        case failure(NetworkError.Code, text: String)
        case cancelledTask
        case other(String)
    }

    let call: PromiseCall
    let end: End
    let elapsed: Duration

    var serials: [Int] {
        guard case .response(_, let head, let body, _, _) = end else { return [] }
        return body.prefix(1).map(\.serial) + (head.map { [$0.serial] } ?? [])
    }
}

/// Who may see what, and what may have been asked: nothing here knows how Dunlin works.
struct PromiseModel: Sendable {
    let world: PromiseWorld

    private func settings(_ call: PromiseCall) -> PromiseSettings {
        world.settings[call.number % world.settings.count]
    }

    // MARK: For whom

    /// Whom a session's own login makes of a request to a site.
    private func sessionUsers(_ settings: PromiseSettings, at site: Site) -> Set<User> {
        switch settings.login {
        case .none: [.nobody]
        case .basic, .bearer, .originFields, .interceptor, .jar: [site == .home ? settings.owner : .nobody]
        case .password: site == .home ? [settings.owner, .nobody] : [.nobody]
        case .handler: [settings.owner, .nobody]
        }
    }

    /// Whom it is for, whatever the request's credentials are: fields, interceptors and cookies are no credentials.
    private func unaskedUser(_ settings: PromiseSettings, at site: Site) -> User {
        [.originFields, .interceptor, .jar].contains(settings.login) && site == .home ? settings.owner : .nobody
    }

    /// The users whose response it may be.
    func users(_ call: PromiseCall) -> Set<User> {
        let settings = settings(call), site = call.lastSite, unasked = unaskedUser(settings, at: site)
        var users: Set<User>
        if site != call.site {
            users = call.way == .none ? [.nobody, unasked] : sessionUsers(settings, at: site).union([.nobody])
            if call.way == .handler { users.insert(call.user) }
            return users
        }
        switch call.way {
        case .session: users = sessionUsers(settings, at: site)
        case .none: users = [unasked]
        case .field, .basic, .bearer, .secretField: users = [call.user]
        // Nothing is sent before a server asks; and then the session's handler is asked first.
        case .password, .userInfo:
            users = [call.user, unasked]
            if settings.login == .handler { users.insert(settings.owner) }
        case .handler: users = sessionUsers(settings, at: site).union([call.user])
        }
        // What nobody proved anything for is for everybody: a cache serves it to whoever asks.
        if world.store != .none { users.insert(.nobody) }
        return users
    }

    // MARK: Where

    private func server(of site: Site, _ call: PromiseCall) -> Site {
        site == .alias ? call.aliasServer : site
    }

    /// Nil where this storm says nothing.
    private func isForbidden(_ site: Site, _ call: PromiseCall) -> Bool? {
        switch call.guardKind ?? settings(call).guardKind {
        case nil: false
        case .address: server(of: site, call) == .inner
        case .port: site == .alias ? nil : site != .home
        case .host: site == .away
        }
    }

    /// Whether a guard forbids where it goes, or where it is sent on to.
    func isForbidden(_ call: PromiseCall) -> Bool? {
        let sites = [isForbidden(call.site, call), isForbidden(call.lastSite, call)]
        return sites.contains(true) ? true : sites.contains(nil) ? nil : false
    }

    // MARK: Judging

    /// What is wrong with an outcome.
    func complaints(_ outcome: PromiseOutcome) -> [String] {
        let call = outcome.call
        switch outcome.end {
        case .response(let status, let head, let body, let bytes, let isText):
            let isWrong = isForbidden(call.site, call) == true
            guard status == .ok else { return isWrong ? ["\(status) in spite of the guard"] : [] }
            return complaints(call, head, body, bytes, isText) + late(outcome)
        case .failure(let code, let text):
            if text.contains(Secret.mark) { return ["an error shows a secret: \(text)"] }
            return complaint(call, code).map { ["\($0): \(text)"] } ?? late(outcome)
        case .cancelledTask:
            if case .task = call.cancel { return [] }
            return ["nobody cancelled its task"]
        case .other(let text): return [text]
        }
    }

    private func late(_ outcome: PromiseOutcome) -> [String] {
        guard outcome.call.page == .slow, outcome.elapsed > .seconds(10) else { return [] }
        return ["a total of 30 ms took \(outcome.elapsed)"]
    }

    private func complaints(
        _ call: PromiseCall, _ head: Answered?, _ body: [Answered], _ bytes: Int, _ isText: Bool
    ) -> [String] {
        if !isText { return ["a body that no server made"] }
        let serials = Set(body.map(\.serial))
        if serials.count > 1 { return ["a body of several answers: \(serials.sorted())"] }
        var complaints: [String] = []
        if call.isSmall, call.reading == .whole, bytes > PromiseCall.smallest {
            complaints.append("\(bytes) bytes in spite of a limit of \(PromiseCall.smallest)")
        }
        if isForbidden(call) == true { complaints.append("served in spite of the guard") }
        // They differ where a newer head confirmed an older body.
        let answers = Set([head, body.first].compactMap { $0?.text }).compactMap { Answered($0) }
        for answer in answers { complaints += self.complaints(call, answer) }
        return complaints
    }

    private func complaints(_ call: PromiseCall, _ answer: Answered) -> [String] {
        var complaints: [String] = []
        let users = users(call)
        if !users.contains(where: { $0.rawValue == answer.user }) {
            complaints.append("\(answer) is for one of \(users.map(\.rawValue).sorted())")
        }
        let host = call.hasOwnHost ? "virtual.test" : call.lastSite.host
        if answer.host != host { complaints.append("\(answer) is for another Host, \(host)") }
        if answer.server != server(of: call.lastSite, call).rawValue {
            complaints.append("\(answer) is from another server than \(server(of: call.lastSite, call))")
        }
        if answer.target != call.lastTarget { complaints.append("\(answer) is for \(call.lastTarget)") }
        if call.key == 4, answer.language != call.language {
            complaints.append("\(answer) is in \(answer.language), not \(call.language)")
        }
        return complaints
    }

    private func complaint(_ call: PromiseCall, _ code: NetworkError.Code) -> String? {
        switch code {
        case .guardRefused: isForbidden(call) == false ? "refused where it may go" : nil
        case .notCached: call.mode == .storedOnly ? nil : "not cached"
        case .cancelled: if case .handle = call.cancel { nil } else { "cancelled, though not by its handle" }
        case .timedOut: call.page == .slow ? nil : "timed out"
        case .limitExceeded: call.isSmall ? nil : "too large"
        // The server closes some connections without an answer.
        case .connectionClosed: nil
        default: "unexpected \(code)"
        }
    }

    /// What no server may have been asked for.
    func mayNotBeAsked(_ call: PromiseCall) -> Bool {
        guard call.isAlone else { return false }
        return world.store != .none && call.mode == .storedOnly || isForbidden(call.site, call) == true
    }
}
