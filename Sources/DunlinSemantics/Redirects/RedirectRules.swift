public import DunlinTypes

/// The rules of redirects (RFC 9110 §15.4), and of what is sent along.
///
/// Knows statuses, methods, addresses and fields. Must not know how often, or whether at all: that is policy.
public enum RedirectRules {
    /// Returns whether a response with this status redirects by its Location field. 300, 304, 305 and 306 do not: the
    /// first leaves the choice to a person, the second is about a cache, and the others are of the past.
    public static func isRedirect(_ status: HTTP.Status) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the method of the next request, and whether the body is sent along.
    ///
    /// 301 and 302 make a GET of POST, as everybody has done since the beginning, and leave other methods alone. 303
    /// asks for something else than what was sent, so no body goes along whatever the method. 307 and 308 change
    /// nothing.
    public static func next(after status: HTTP.Status, _ method: HTTP.Method) -> (method: HTTP.Method, keepsBody: Bool)
    {
        switch status.code {
        case 303: (method == .head ? .head : .get, false)
        case 301 where method == .post, 302 where method == .post: (.get, false)
        default: (method, true)
        }
    }

    /// Returns the destination of a Location field's reference from `address`.
    ///
    /// Without a fragment it gets that of `address` (§10.2.2). User info is ignored, as it is the server's choice.
    public static func destination(
        of reference: String, from address: WebAddress
    ) throws(AddressError) -> WebAddress {
        let found = try address.resolving(reference)
        return WebAddress(
            origin: found.origin.unrouted, userInfo: nil, target: found.target,
            fragment: found.fragment ?? address.fragment)
    }

    /// Returns whether protection would be lost.
    public static func isDowngrade(from origin: HTTP.Origin, to next: HTTP.Origin) -> Bool {
        origin.scheme == .https && next.scheme == .http
    }
}

// MARK: - Fields

extension RedirectRules {
    /// Returns the fields without those that describe a body that is not sent along (§15.4).
    public static func withoutBody(_ fields: Fields) -> Fields {
        fields.filtered { name in
            !name.hasPrefix("content-") && !aboutBodies.contains(name)
        }
    }

    /// Returns the fields that may be sent from one origin to another.
    ///
    /// Secrets (`Authorization`, `Cookie`, the rest of `HTTP.SecretFields` and what looks like one) stay where they
    /// are. `Host` and `Origin` speak of the old one: what was not asked by a page of the new origin's must not say so.
    /// `Last-Event-ID` names an event of the old one. `Referer` stays unless protection is lost, since then it would
    /// tell of a protected page in the clear (§10.1.3).
    public static func allowed(
        _ fields: Fields, from origin: HTTP.Origin, to next: HTTP.Origin, secret: HTTP.SecretFields = .usual
    ) -> Fields {
        if origin.isSame(as: next) { return fields }
        let isDowngrade = isDowngrade(from: origin, to: next)
        return fields.filtered(droppingSensitive: true) { name in
            !secret.hidesField(name) && !ofOneOrigin.contains(name) && !(isDowngrade && name == "referer")
        }
    }

    private static let aboutBodies: Set<String> = [
        "transfer-encoding", "expect", "trailer", "digest", "repr-digest", "last-modified",
    ]
    private static let ofOneOrigin: Set<String> = ["host", "last-event-id", "origin"]
}
