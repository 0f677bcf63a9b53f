internal import DunlinReactor
internal import DunlinRules
package import DunlinSemantics
internal import DunlinTransport

/// A request whose answer may be kept outside the session's cache, before it is sent: who asks for what now.
///
/// It is made without waiting, by what the session has at this moment.
package struct Inquiry: Sendable {
    package let call: HTTPSession.Call
    private let asking: Asking
    private let access: Access
    package let asker: CacheAsker
    package let name: CacheAsker.Name
    /// What the program says the answer is the same for, instead of the URL; nil for nothing.
    package private(set) var identity: CacheKey?

    init(_ call: HTTPSession.Call) throws {
        self.call = call
        asking = Asking(call)
        access = try Access(of: TransportRequest(head: call.head), asking.beforeInterceptors)
        asker = access.asker
        name = asker.named
    }

    /// Whether what is kept or shared may answer it: it is known who asks, and nothing forbids to ask.
    package var isShareable: Bool { access.isKept && access.refusal == nil }

    package var key: CacheKey { identity ?? CacheKey(access.head) }

    /// The same request under a name instead of its URL, at the same address and Host.
    package func named(_ name: String) -> Inquiry {
        var inquiry = self
        inquiry.identity = CacheKey(text: name + CacheKey(access.head).parts.route)
        return inquiry
    }
    package var method: HTTP.Method { access.head.method }

    /// The fields that it is sent with, but those that name the request.
    package var fields: ExactText {
        var text = ""
        for field in access.head.fields where !CredentialFields.isOfRequest(field.name.lowercased()) {
            text += "\n\(field.name.lowercased()): \(field.value)"
        }
        return ExactText(text)
    }

    // MARK: - What is kept

    /// Whether what is kept answers it now.
    package func verdict(on kept: KeptAnswer, at now: Int64, mode: CacheMode) -> KeptAnswer.Verdict {
        guard isShareable else { return .no }
        var current = access
        return kept.verdict(at: now, rules) { redirect in
            guard let redirect else {
                let question = CacheRequest(access.head, by: asker, mode: mode)
                return (identity.map { question.named($0) } ?? question, name)
            }
            do {
                guard let next = try asking.redirected(current.request, by: redirect) else { return nil }
                current = try Access(of: next, asking)
            } catch {
                // What cannot be asked for has no answer.
                return nil
            }
            guard current.isKept, current.refusal == nil else { return nil }
            return (CacheRequest(current.head, by: current.asker, mode: mode), current.asker.named)
        }
    }

    /// Whether a response confirms what is kept.
    package func isConfirmed(_ kept: KeptAnswer, by response: HTTPSession.StreamedResponse) -> Bool {
        provenance(of: response)?.confirms(kept, rules) ?? false
    }

    /// The response as it is kept, with the body of `former` if it confirms that; nil if it may not be given again.
    package func kept(
        _ response: HTTPSession.StreamedResponse, at now: Int64, confirming former: KeptAnswer? = nil
    ) -> KeptAnswer? {
        isShareable ? provenance(of: response)?.kept(response.head, at: now, confirming: former, rules) : nil
    }

    /// Interceptors around calls may ask for something else or as somebody else, which is not known before they are
    /// asked, or answer by themselves: what was asked for, and by whom, counts instead.
    private func provenance(of response: HTTPSession.StreamedResponse) -> Provenance? {
        if asking.chain.callInterceptors.isEmpty {
            return response.callHistory?.provenance?.renamed(identity, for: nil)
        }
        if let provenance = response.callHistory?.provenance { return provenance.renamed(key, for: asker) }
        var provenance = Provenance()
        let now = WallClock.seconds
        provenance.add(
            Provenance.Step(
                CacheRequest(access.head, by: asker).named(key), sent: access.head, response.head,
                .init(nil, withJar: nil, isNamed: false), rules: access.rules, isConfirmed: true, isElsewhere: false,
                sentAt: now, receivedAt: now))
        return provenance
    }

    private var rules: CacheRules { asking.chain.settings.cacheRules }
}

extension Asking {
    /// The same before the interceptors around the call: they may add something that says who asks.
    fileprivate var beforeInterceptors: Asking {
        var asking = self
        asking.isBeforeInterceptors = true
        return asking
    }

    var redirectPolicy: HTTPSession.RedirectPolicy {
        (options?.redirects ?? .session).resolved(session.configuration.redirects) ?? .never
    }

    /// The request to which a redirect leads, as far as no hook changes it; nil if it leads nowhere.
    fileprivate func redirected(_ request: TransportRequest, by redirect: ResponseHead) throws -> TransportRequest? {
        let address = WebAddress(origin: request.head.origin, target: request.head.target, fragment: nil)
        let hop = RedirectMachine.Hop(
            method: request.head.method, address: address, fields: request.head.fields, hasBody: false)
        guard let next = RedirectMachine().proposal(redirect, to: hop, redirectPolicy.rules), next.refusal == nil,
            let address = next.address
        else { return nil }
        let routed = chain.settings.builder.routed(address.origin)
        let origin = try settings?.routed(routed) ?? routed
        return request.with { request in
            request.head = RequestHead(
                method: next.method, origin: origin, target: address.target, fields: next.fields)
        }
    }
}

extension HTTPSession {
    /// A request without a body, to be sent or answered by what is kept. Throws if it cannot be sent.
    package func inquiry(
        _ method: HTTP.Method, _ target: HTTP.Target, _ fields: Fields, options: Options, accept: String?
    ) throws -> Inquiry {
        var options = options
        options.fields = fields
        return try Inquiry(
            core.call(
                method, target, options: options, accept: accept, kind: .stream, isObserved: isObserved(options)))
    }

    /// Sends it, and returns the response when its head has come.
    package func stream(_ inquiry: Inquiry) async throws -> StreamedResponse {
        try Task.checkCancellation()
        return try await open(inquiry.call, by: TaskDelegate(inquiry.call))
    }

    /// The time by the clock of the session's cache; nil without one.
    package var cacheTime: Int64? { core.configuration.cache?.now }
}
