internal import DunlinSemantics
package import DunlinTypes

/// Trailers are fields: what another origin may not see of fields, it may not see in trailers either.
extension RedirectMachine {
    /// The body `wanted` for sending to `next`, where `former` is sent to `origin`. Trailers that are still those of
    /// `former` are limited to what `next` may see, and `fields` announce no others. Trailers that the user's code
    /// wrote are sent, as fields are. `secret` are the session's secret names, since trailers are not marked.
    package static func body(
        _ wanted: RequestBody, _ fields: inout Fields, to next: HTTP.Origin, insteadOf former: RequestBody,
        for origin: HTTP.Origin, _ policy: Policy, _ secret: HTTP.SecretFields
    ) -> RequestBody {
        guard let trailers = wanted.trailers, trailers === former.trailers, !origin.isSame(as: next) else {
            return wanted
        }
        let secret = policy.secretFields.union(secret.more)
        let allowed: @Sendable (Fields) -> Fields = {
            RedirectRules.allowed($0, from: origin, to: next, secret: secret)
        }
        fields.announce(allowed)
        return wanted.keepingTrailers(allowed)
    }
}

extension Fields {
    /// Reduces the names in `Trailer` to those that `allowed` leaves.
    fileprivate mutating func announce(_ allowed: (Fields) -> Fields) {
        var announced = Fields()
        for name in values(of: "trailer").flatMap({ $0.split(separator: ",") }) {
            let name = name.filter { $0 != " " && $0 != "\t" }
            announced.append(name: name, value: "")
        }
        let kept = allowed(announced)
        guard kept.count < announced.count else { return }
        self["Trailer"] = kept.isEmpty ? nil : kept.map(\.name).joined(separator: ", ")
    }
}
