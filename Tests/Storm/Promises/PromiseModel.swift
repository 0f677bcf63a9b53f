import Dunlin

/// What came of an errand.
struct PromiseOutcome: Sendable {
    enum End: Sendable {
        case response(HTTP.Status, head: Answered?, body: [Answered], bytes: Int, isText: Bool)
        case failure(NetworkError.Code, text: String)
        case cancelledTask
        case other(String)
    }

    let errand: PromiseErrand
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

    private func settings(_ errand: PromiseErrand) -> PromiseSettings {
        world.settings[errand.number % world.settings.count]
    }

    // MARK: For whom

    /// Whom a session's own login makes of a request to a site.
    private func sessionUsers(_ settings: PromiseSettings, at site: Site) -> Set<User> {
        switch settings.login {
        case .none: [.nobody]
        case .basic, .bearer, .originFields, .interceptor: [site == .home ? world.owner : .nobody]
        case .password: site == .home ? [world.owner, .nobody] : [.nobody]
        case .handler: [world.owner, .nobody]
        }
    }

    /// Whom it is for, whatever the request's credentials are: fields and interceptors are no credentials.
    private func unaskedUser(_ settings: PromiseSettings, at site: Site) -> User {
        [.originFields, .interceptor].contains(settings.login) && site == .home ? world.owner : .nobody
    }

    /// The users whose response it may be.
    func users(_ errand: PromiseErrand) -> Set<User> {
        let settings = settings(errand), site = errand.lastSite, unasked = unaskedUser(settings, at: site)
        var users: Set<User>
        if site != errand.site {
            users = errand.way == .none ? [.nobody, unasked] : sessionUsers(settings, at: site).union([.nobody])
            if errand.way == .handler { users.insert(errand.user) }
            return users
        }
        switch errand.way {
        case .session: users = sessionUsers(settings, at: site)
        case .none: users = [unasked]
        case .field, .basic, .bearer, .secretField: users = [errand.user]
        // Nothing is sent before a server asks; and then the session's handler is asked first.
        case .password, .userInfo:
            users = [errand.user, unasked]
            if settings.login == .handler { users.insert(world.owner) }
        case .handler: users = sessionUsers(settings, at: site).union([errand.user])
        }
        // What nobody proved anything for is for everybody: a cache serves it to whoever asks.
        if world.store != .none { users.insert(.nobody) }
        return users
    }

    // MARK: Where

    private func server(of site: Site, _ errand: PromiseErrand) -> Site {
        site == .alias ? errand.aliasServer : site
    }

    /// Nil where this storm says nothing.
    private func isForbidden(_ site: Site, _ errand: PromiseErrand) -> Bool? {
        switch errand.guardKind ?? settings(errand).guardKind {
        case nil: false
        case .address: server(of: site, errand) == .inner
        case .port: site == .alias ? nil : site != .home
        case .host: site == .away
        }
    }

    /// Whether a guard forbids where it goes, or where it is sent on to.
    func isForbidden(_ errand: PromiseErrand) -> Bool? {
        let places = [isForbidden(errand.site, errand), isForbidden(errand.lastSite, errand)]
        return places.contains(true) ? true : places.contains(nil) ? nil : false
    }

    // MARK: Judging

    /// What is wrong with an outcome.
    func complaints(_ outcome: PromiseOutcome) -> [String] {
        let errand = outcome.errand
        switch outcome.end {
        case .response(let status, let head, let body, let bytes, let isText):
            let isWrong = isForbidden(errand.site, errand) == true
            guard status == .ok else { return isWrong ? ["\(status) in spite of the guard"] : [] }
            return complaints(errand, head, body, bytes, isText) + late(outcome)
        case .failure(let code, let text):
            if text.contains(Secret.mark) { return ["an error shows a secret: \(text)"] }
            return complaint(errand, code).map { ["\($0): \(text)"] } ?? late(outcome)
        case .cancelledTask:
            if case .task = errand.cancel { return [] }
            return ["nobody cancelled its task"]
        case .other(let text): return [text]
        }
    }

    private func late(_ outcome: PromiseOutcome) -> [String] {
        guard outcome.errand.page == .slow, outcome.elapsed > .seconds(10) else { return [] }
        return ["a total of 30 ms took \(outcome.elapsed)"]
    }

    private func complaints(
        _ errand: PromiseErrand, _ head: Answered?, _ body: [Answered], _ bytes: Int, _ isText: Bool
    ) -> [String] {
        if !isText { return ["a body that no server made"] }
        let serials = Set(body.map(\.serial))
        if serials.count > 1 { return ["a body of several answers: \(serials.sorted())"] }
        var complaints: [String] = []
        if errand.isSmall, errand.reading == .whole, bytes > PromiseErrand.smallest {
            complaints.append("\(bytes) bytes in spite of a limit of \(PromiseErrand.smallest)")
        }
        if isForbidden(errand) == true { complaints.append("served in spite of the guard") }
        // They differ where a newer head confirmed an older body.
        let answers = Set([head, body.first].compactMap { $0?.text }).compactMap { Answered($0) }
        for answer in answers { complaints += self.complaints(errand, answer) }
        return complaints
    }

    private func complaints(_ errand: PromiseErrand, _ answer: Answered) -> [String] {
        var complaints: [String] = []
        let users = users(errand)
        if !users.contains(where: { $0.rawValue == answer.user }) {
            complaints.append("\(answer) is for one of \(users.map(\.rawValue).sorted())")
        }
        let host = errand.hasOwnHost ? "virtual.test" : errand.lastSite.host
        if answer.host != host { complaints.append("\(answer) is for another Host, \(host)") }
        if answer.server != server(of: errand.lastSite, errand).rawValue {
            complaints.append("\(answer) is from another server than \(server(of: errand.lastSite, errand))")
        }
        if answer.target != errand.lastTarget { complaints.append("\(answer) is for \(errand.lastTarget)") }
        if errand.key == 4, answer.language != errand.language {
            complaints.append("\(answer) is in \(answer.language), not \(errand.language)")
        }
        return complaints
    }

    private func complaint(_ errand: PromiseErrand, _ code: NetworkError.Code) -> String? {
        switch code {
        case .guardRefused: isForbidden(errand) == false ? "refused where it may go" : nil
        case .notCached: errand.mode == .storedOnly ? nil : "not cached"
        case .cancelled: if case .handle = errand.cancel { nil } else { "cancelled, though not by its handle" }
        case .timedOut: errand.page == .slow ? nil : "timed out"
        case .limitExceeded: errand.isSmall ? nil : "too large"
        // The server closes some connections without an answer.
        case .connectionClosed: nil
        default: "unexpected \(code)"
        }
    }

    /// What no server may have been asked for.
    func mayNotBeAsked(_ errand: PromiseErrand) -> Bool {
        guard errand.isAlone else { return false }
        return world.store != .none && errand.mode == .storedOnly || isForbidden(errand.site, errand) == true
    }
}
