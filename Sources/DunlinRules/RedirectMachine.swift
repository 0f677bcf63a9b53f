package import DunlinSemantics
package import DunlinTypes

/// Decides whether a redirect is followed, and with which request.
///
/// Rules:
/// 1. `RedirectRules` decides what a status asks for, and which fields may be sent where.
/// 2. An invalid address is an error only if the redirect is followed; a hook may decide otherwise.
/// 3. The next URL must be http or https, or ws or wss for the handshake of a WebSocket, and must not lose protection
///    unless the policy allows that. The request must not have been sent before: the same method, URL, fields and body
///    would be redirected in the same way, unless cookies were set meanwhile. Fragments are never sent and do not
///    matter.
/// 4. Fields that were withheld from another origin stay removed: each hop begins with the fields of the last.
/// 5. A hook's request instead of the proposal is checked by the same rules. Sensitive fields that it left unchanged
///    are not sent to an origin other than the proposed one; fields that it wrote are sent.
package struct RedirectMachine: Sendable {
    /// A request as far as redirects are concerned.
    package struct Hop: Sendable {
        package var method: HTTP.Method
        package var address: WebAddress
        package var fields: Fields
        package var hasBody: Bool

        package init(method: HTTP.Method, address: WebAddress, fields: Fields, hasBody: Bool) {
            (self.method, self.address, self.fields, self.hasBody) = (method, address, fields, hasBody)
        }
    }

    /// The settings of a session's policy.
    package struct Policy: Sendable {
        package let follows: Bool
        package let limit: Int
        package let allowsHTTPSToHTTP: Bool
        /// The names that no other origin may see.
        package let secretFields: HTTP.SecretFields
        /// Whether an address may also be that of a WebSocket.
        package var takesWebSockets = false

        package init(
            follows: Bool = true, limit: Int = 20, allowsHTTPSToHTTP: Bool = false,
            secretFields: HTTP.SecretFields = .usual
        ) {
            (self.follows, self.limit) = (follows, limit)
            (self.allowsHTTPSToHTTP, self.secretFields) = (allowsHTTPSToHTTP, secretFields)
        }
    }

    /// The request that the server wants.
    package struct Proposal: Sendable {
        package var method: HTTP.Method
        /// The address; nil if it is invalid.
        package var address: WebAddress?
        /// The address, or the server's text if that is invalid.
        package var url: String
        package var fields: Fields
        package var keepsBody: Bool
        /// Why following is refused; nil if it is not.
        package var refusal: Refusal?
    }

    package enum Refusal: Error {
        case tooMany(limit: Int)
        case loop
        case unsupportedScheme(AddressError)
        case unusable(AddressError?)
        case ambiguous
        case insecure
    }

    private struct Sent: Sendable, Equatable {
        var method: HTTP.Method
        var origin: HTTP.Origin
        var target: String
        var fields: Fields
        /// The number of the body that was sent; nil without one.
        var body: Int?
        /// How often cookies had been set before.
        var cookies: Int

        init(_ hop: Hop, body: Int, cookies: Int) {
            self.cookies = cookies
            (method, origin, target) = (hop.method, hop.address.origin, hop.address.target)
            fields = hop.fields
            self.body = hop.hasBody ? body : nil
        }
    }

    package private(set) var count = 0
    private var sent: [Sent] = []
    /// The number of bodies that hooks have given.
    private var body = 0
    private var cookies = 0

    package init() {}

    /// The proposal; nil if the response has no location and is delivered.
    package func proposal(
        _ response: ResponseHead, to hop: Hop, _ policy: Policy
    ) -> Proposal? {
        guard policy.follows, RedirectRules.isRedirect(response.status) else { return nil }
        let (method, keepsBody) = RedirectRules.next(after: response.status, hop.method)
        let fields = keepsBody ? hop.fields : RedirectRules.withoutBody(hop.fields)
        var proposal = Proposal(
            method: method, url: response.fields["location"] ?? "", fields: fields, keepsBody: keepsBody && hop.hasBody)
        switch Location(response.fields) {
        case .none: return nil
        case .ambiguous: proposal.refusal = .ambiguous
        case .unreadable: proposal.refusal = .unusable(nil)
        case .reference(let reference):
            proposal.lead(
                to: policy.takesWebSockets ? WebSocketScheme.overHTTP(reference) : reference, from: hop.address)
        }
        let next = proposal.address?.origin
        proposal.fields = RedirectRules.allowed(fields, from: hop.address.origin, to: next, policy)
        return proposal
    }

    /// One of the origins asked so far that is not `next`; nil if there is none.
    package func formerOrigin(besides next: HTTP.Origin) -> HTTP.Origin? {
        sent.first { !$0.origin.isSame(as: next) }?.origin
    }

    /// Notes that `next` is about to be sent after `hop`. `isNewBody`: its body differs from the hop's. `setsCookies`:
    /// the redirect set cookies, so other cookies may be sent now.
    package mutating func follow(
        _ next: Hop, after hop: Hop, isNewBody: Bool, setsCookies: Bool = false, _ policy: Policy
    ) throws(Refusal) {
        if count >= policy.limit { throw .tooMany(limit: policy.limit) }
        if !policy.allowsHTTPSToHTTP, RedirectRules.isDowngrade(from: hop.address.origin, to: next.address.origin) {
            throw .insecure
        }
        let before = Sent(hop, body: body, cookies: cookies)
        if isNewBody { body += 1 }
        if setsCookies { cookies += 1 }
        let after = Sent(next, body: body, cookies: cookies)
        if sent.contains(after) || before == after { throw .loop }
        sent.append(before)
        count += 1
    }
}

extension RedirectMachine.Proposal {
    fileprivate mutating func lead(to reference: String, from address: WebAddress) {
        do throws(AddressError) {
            let destination = try RedirectRules.destination(of: reference, from: address)
            self.address = destination
            url = destination.description
        } catch {
            refusal = error.problem == .unsupportedScheme ? .unsupportedScheme(error) : .unusable(error)
        }
    }
}

extension RedirectRules {
    /// The fields for an unknown address are those for another origin.
    fileprivate static func allowed(
        _ fields: Fields, from origin: HTTP.Origin, to next: HTTP.Origin?, _ policy: RedirectMachine.Policy
    ) -> Fields {
        let next = next ?? HTTP.Origin(scheme: origin.scheme, host: "")
        return allowed(fields, from: origin, to: next, secret: policy.secretFields)
    }
}

// MARK: - What a hook says

extension RedirectMachine {
    /// The fields for a hook's request to `next`, where `proposal` was proposed after `hop`.
    package static func fields(
        _ wanted: Fields, to next: HTTP.Origin, insteadOf proposal: Proposal, after hop: Hop,
        _ policy: Policy
    ) -> Fields {
        if let proposed = proposal.address?.origin, proposed.isSame(as: next) { return wanted }
        let from = proposal.address?.origin ?? hop.address.origin
        return fields(wanted, to: next, insteadOf: proposal.fields, for: from, policy)
    }

    /// The fields of the user's code for another origin than the one that the original fields were for. Fields that the
    /// new origin may not see are dropped, unless the code gave them another value.
    package static func fields(
        _ wanted: Fields, to next: HTTP.Origin, insteadOf former: Fields, for origin: HTTP.Origin,
        _ policy: Policy
    ) -> Fields {
        let allowed = RedirectRules.allowed(former, from: origin, to: next, policy)
        let kept = Set(allowed.map { $0.name.lowercased() })
        return wanted.filtered { name in
            kept.contains(name) || wanted.rawValues(of: name) != former.rawValues(of: name)
        }
    }
}
