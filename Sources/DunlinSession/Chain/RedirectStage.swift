internal import DunlinReactor
internal import DunlinRules
internal import DunlinSemantics
internal import DunlinTransport

/// Follows redirects, by the rules of `RedirectMachine`. Each is a hop of its own.
struct RedirectStage: Stage {
    func interest(in sending: Sending) -> StageInterest { .failures }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        var request = request
        while true {
            let response = try await next(request, &sending)
            guard RedirectRules.isRedirect(response.head.status) else { return response }
            var policy = sending.redirectPolicy.rules
            policy.takesWebSockets = sending.delegate.kind == .upgrade
            let redirecting = Redirecting(sending: sending, response: response, policy: policy)
            guard let destination = try await sending.judging(response, { _ in try await redirecting.next() }) else {
                return response
            }
            try await sending.discard(response)
            sending.callHistory = redirecting.history(sending.callHistory, before: destination)
            request = destination.request
            sending.request = request
            try sending.again(.redirect)
            try sending.ask(request)
        }
    }
}

/// Follows one redirect: asks the machine what the server wants and the hooks whether to do it, and makes the next
/// request.
private struct Redirecting {
    let sending: Sending
    let response: TransportResponse
    let policy: RedirectMachine.Policy

    /// Where a redirect leads.
    struct Destination {
        let request: TransportRequest
        let fragment: String?
        let password: OriginPassword?
        let machine: RedirectMachine
    }

    private var request: TransportRequest { sending.request }
    private var callHistory: CallHistory? { sending.callHistory }

    /// The next request; nil to deliver the response as it is.
    func next() async throws -> Destination? {
        let hop = hop
        var machine = callHistory?.steps.machine ?? RedirectMachine()
        guard let proposal = machine.proposal(response.head, to: hop, policy) else { return nil }
        guard var step = try await decide(on: proposal, hop, machine.count) else { return nil }
        do throws(RedirectMachine.Refusal) {
            if let refusal = step.refusal { throw refusal }
            try machine.follow(
                step.hop, after: hop, isNewBody: !step.body.isSame(as: request.body), setsCookies: setsCookies, policy)
        } catch {
            throw failure(error, step.hop)
        }
        try await renewBody(of: &step)
        let request = try transportRequest(step, machine)
        // Asked now, while the redirect's own exchange can fail because of it.
        try sending.checkMayBeSent(request)
        return Destination(
            request: request, fragment: step.hop.address.fragment, password: step.password,
            machine: machine)
    }

    /// The history after the redirect, whose response has been discarded.
    func history(_ former: CallHistory?, before next: Destination) -> CallHistory {
        former.with { steps in
            steps.redirects = chain
            steps.fragment = next.fragment
            steps.machine = next.machine
            if let password = next.password { steps.password = password }
        }
    }

    /// The hop that was answered with a redirect.
    private var hop: RedirectMachine.Hop {
        let address = WebAddress(
            origin: request.head.origin, target: request.head.target, fragment: callHistory?.fragment)
        return RedirectMachine.Hop(
            method: request.head.method, address: address, fields: request.head.fields, hasBody: !request.body.isNone)
    }

    private var setsCookies: Bool {
        sending.asking.jar != nil && response.head.fields.contains("set-cookie")
    }

    /// All redirects so far, including this one.
    private var chain: [HTTPSession.Redirect] {
        let url = request.head.origin.description + request.head.target
        var redirect = HTTPSession.Redirect(method: request.head.method, url: url, head: response.head)
        redirect.secretFields = sending.session.configuration.secretFields
        return (callHistory?.redirects ?? []) + [redirect]
    }
}

// MARK: - Decisions

extension Redirecting {
    /// The next request, before it has been checked.
    private struct Step {
        var hop: RedirectMachine.Hop
        var body: RequestBody
        var refusal: RedirectMachine.Refusal?
        var password: OriginPassword?
        /// Whether the body is another in place of one that cannot be sent again: it is made as that was, for the
        /// origin that was asked first.
        var isRenewed = false
    }

    /// The next step; nil to stop.
    private func decide(
        on proposal: RedirectMachine.Proposal, _ hop: RedirectMachine.Hop, _ count: Int
    ) async throws -> Step? {
        let next = HTTPSession.RedirectRequest(
            method: proposal.method, url: proposal.url, fields: proposal.fields,
            body: proposal.keepsBody ? request.body : .none)
        let question = HTTPSession.RedirectProposal(
            request: HTTPSession.RedirectRequest(
                method: hop.method, url: hop.address.description, fields: hop.fields, body: request.body),
            response: response.head, next: next, count: count)
        switch try await sending.ask(\.redirect, { await $0(question) }) ?? .follow {
        case .stop: return nil
        case .modify(let wanted): return try step(wanted, insteadOf: proposal, hop)
        case .follow:
            // Without a valid address the machine refuses, and nothing is sent to this one.
            let hop = RedirectMachine.Hop(
                method: next.method, address: proposal.address ?? hop.address, fields: next.fields,
                hasBody: !next.body.isNone)
            return Step(hop: hop, body: next.body, refusal: proposal.refusal)
        }
    }

    /// The step for a request that a hook asked for.
    private func step(
        _ wanted: HTTPSession.RedirectRequest, insteadOf proposal: RedirectMachine.Proposal, _ hop: RedirectMachine.Hop
    ) throws -> Step {
        let address: WebAddress
        do throws(AddressError) {
            address = try WebAddress(wanted.url)
        } catch {
            throw failure(error.problem == .unsupportedScheme ? .unsupportedScheme(error) : .unusable(error), hop)
        }
        var fields = RedirectMachine.fields(
            wanted.fields, to: address.origin, insteadOf: proposal, after: hop, policy)
        fields.mark(sending.session.configuration.secretFields)
        if !wanted.body.isSame(as: request.body) { fields.describe(wanted.body, insteadOf: request.body) }
        let next = RedirectMachine.Hop(
            method: wanted.method, address: address, fields: fields, hasBody: !wanted.body.isNone)
        let password = address.userInfo.map { HTTPSession.Password($0) }
        try password?.check(.invalidRequest)
        return Step(
            hop: next, body: wanted.body,
            password: password.map { OriginPassword(origin: address.origin, password: $0) })
    }

    /// Asks a hook for a body to replace one that cannot be sent again.
    private func renewBody(of step: inout Step) async throws {
        if step.body.canBeSent { return }
        let redirect = HTTPSession.RedirectRequest(
            method: step.hop.method, url: step.hop.address.description, fields: step.hop.fields, body: step.body)
        let renewed = try await sending.ask(\.replacementBody) { await $0(redirect) }
        guard let renewed, renewed.canBeSent else {
            throw error(
                .bodyNotReplayable,
                "the redirect needs the body again, and it can be sent once only; "
                    + "the hook `replacementBody` can give another"
            )
        }
        step.hop.fields.describe(renewed, insteadOf: step.body)
        (step.body, step.isRenewed) = (renewed, true)
    }
}

// MARK: - The next request

extension Redirecting {
    private func transportRequest(_ step: Step, _ machine: RedirectMachine) throws -> TransportRequest {
        let routed = sending.chain.settings.builder.routed(step.hop.address.origin)
        let origin = try sending.delegate.settings?.routed(routed) ?? routed
        var fields = step.hop.fields
        let first = sending.call.head.origin
        let body = RedirectMachine.body(
            step.body, &fields, to: origin, insteadOf: step.isRenewed ? step.body : request.body,
            for: step.isRenewed ? machine.formerOrigin(besides: origin) ?? first : request.head.origin, policy,
            sending.session.configuration.secretFields)
        return request.with { next in
            next.head.method = step.hop.method
            next.head.origin = origin
            next.head.target = step.hop.address.target
            if next.head.fields != fields { next.head.fields = fields }
            next.body = body
            next.needsFreshConnection = false
        }
    }
}

// MARK: - Failures

extension Redirecting {
    private func failure(_ refusal: RedirectMachine.Refusal, _ next: RedirectMachine.Hop) -> NetworkError {
        switch refusal {
        case .tooMany(let limit):
            error(.tooManyRedirects, "there were more than \(limit) redirects; `redirects.limit` allows no more")
        case .loop: error(.redirectLoop, "the redirect leads to \(shown(next)), which was requested before")
        case .unsupportedScheme(let cause):
            error(
                .unsupportedScheme, "the redirect leads to a URL that is neither http nor https",
                cause.hiding(sending.session.configuration.secretFields))
        case .unusable(let cause):
            error(
                .invalidRedirect, "the redirect leads to an invalid URL",
                cause?.hiding(sending.session.configuration.secretFields))
        case .ambiguous: error(.invalidRedirect, "the redirect has several Location fields that differ")
        case .insecure:
            error(
                .insecureRedirect,
                "the redirect leads from https to \(shown(next)); set `redirects.allowsHTTPSToHTTP` to follow it")
        }
    }

    private func shown(_ next: RedirectMachine.Hop) -> String {
        WebAddress.named("\(next.address)", hiding: sending.session.configuration.secretFields)
    }

    private func error(_ code: NetworkError.Code, _ reason: String, _ cause: (any Error)? = nil) -> NetworkError {
        NetworkError(
            code, reason, requestMayHaveBeenSent: true, isSafeToRetry: true,
            peer: request.head.origin.description, underlying: HTTPSession.RedirectFailure(chain: chain, cause: cause),
            response: response.head)
    }
}

extension Fields {
    /// Adapts the fields that describe a body to another body, as far as bodies describe themselves.
    fileprivate mutating func describe(_ body: RequestBody, insteadOf former: RequestBody) {
        if body.isNone {
            self = RedirectRules.withoutBody(self)
            return
        }
        if body.contentEncoding != former.contentEncoding { self["Content-Encoding"] = body.contentEncoding }
        if let names = body.trailers?.names, !names.isEmpty {
            self["Trailer"] = names.joined(separator: ", ")
        } else if former.trailers != nil {
            remove("trailer")
        }
        if let contentType = body.contentType, !contains("content-type") {
            append(name: "Content-Type", value: contentType)
        }
        // The new body supplies its own length.
        remove("content-length")
    }
}
