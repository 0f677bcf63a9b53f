import Dunlin

/// Who may be given what: nothing here knows how Dunlin works.
///
/// 1. What is given was made for who asks, or for nobody: what nobody proved anything for is for everybody.
/// 2. It is of the host and path that were asked for, or of those that a redirect for the asker leads to, as it is or
///    was as long ago as it may be kept.
/// 3. It is the variant that the request asks for, in a version that was there since then.
/// 4. All parts of it are the same.
struct KeptJudge: Sendable {
    let world: KeptWorld

    /// What is wrong, in a word; nil if it is right.
    func complaint(_ content: KeptContent, _ outcome: KeptOutcome) -> String? {
        let call = outcome.call, seed = world.server.seed
        switch content {
        case .mixed: return "mixed"
        case .text(let text):
            guard let asked = KeptPage(call.resource.path, seed: seed),
                let page = KeptPage(text.resource.path, seed: seed)
            else { return "nobody's" }
            if KeptLogin.all[call.session].login == .guarded { return "in spite of the guard" }
            if let complaint = asked.isRedirect ? led(call, asked, to: text) : nil { return complaint }
            if !asked.isRedirect, text.resource != call.resource { return "of another resource" }
            let askers = askers(call, at: text.resource.host, isFirst: !asked.isRedirect)
            guard askers.contains(text.asker) else { return "another user's" }
            guard world.selected(call, of: page).contains(String(text.selected.prefix { $0 != ":" })) else {
                return "another variant"
            }
            return outdated(call, page, text, outcome.began)
        }
    }

    /// With nobody, if it may have come without a proxy.
    private func askers(_ call: KeptCall, at host: String, isFirst: Bool) -> Set<KeptAsker> {
        let askers = world.askers(call, at: host, isFirst: isFirst)
        return askers.contains { $0.proxy == "-" } ? askers.union([.nobody]) : askers
    }

    private func led(_ call: KeptCall, _ asked: KeptPage, to text: KeptText) -> String? {
        let askers = askers(call, at: call.resource.host, isFirst: true), selected = world.selected(call, of: asked)
        func leads(since start: ContinuousClock.Instant?) -> Bool {
            world.server.versions(of: call.resource, since: start).contains { version in
                askers.contains { asker in
                    selected.contains {
                        asked.destination(of: asker, $0, version: version, on: call.resource.host) == text.resource
                    }
                }
            }
        }
        if leads(since: start(call, asked)) { return nil }
        return leads(since: nil) ? "by an old redirect" : "by another's redirect"
    }

    private func outdated(_ call: KeptCall, _ page: KeptPage, _ text: KeptText, _ began: ContinuousClock.Instant)
        -> String?
    {
        if !world.server.versions(of: text.resource, since: start(call, page)).contains(text.version) {
            return "an old version"
        }
        let isPicture = call.use == .picture || call.use == .shown
        if isPicture, text.resource != call.resource { return nil }
        return text.version < world.oldest(of: text.resource, asPicture: isPicture, at: began) ? "removed before" : nil
    }

    /// Since when a version may be given; nil for ever.
    private func start(_ call: KeptCall, _ page: KeptPage) -> ContinuousClock.Instant? {
        guard let lifetime = page.lifetime, call.mode != .preferringStored else { return nil }
        // Ages are counted in whole seconds.
        return lifetime == .zero ? world.start : world.start - lifetime - .seconds(2)
    }
}
