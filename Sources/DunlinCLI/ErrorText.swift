import Dunlin
import DunlinCommandLine

/// An error as text for people: one line, and further details.
enum ErrorText {
    static func lines(of error: any Error) -> [String] {
        guard let error = error as? NetworkError else { return [oneLine(withoutSettings("\(error)"))] }
        guard let refusal = error.trustRefusal else { return [headline(error, reason(of: error))] }
        return [headline(error, title(of: refusal, error))] + details(of: refusal, atProxy: error.phase == .proxyTLS)
    }

    /// The reason, in the command's own words if it concerns one of its options.
    private static func reason(of error: NetworkError) -> String {
        if error.meansBasicNotAllowed {
            return "the server accepts only Basic, which sends the password itself; leave out --digest to allow that"
        }
        return error.reason
    }

    private static func headline(_ error: NetworkError, _ reason: String) -> String {
        var text = withoutSettings(reason)
        if let peer = error.peer { text += " [\(peer)]" }
        if let end = ending(of: error) { text += " (\(end))" }
        // For a refusal, the reason says everything.
        if let underlying = error.underlying, error.trustRefusal == nil, !reason.contains("\(underlying)") {
            text += ": \(withoutSettings("\(underlying)"))"
        }
        return oneLine(text)
    }

    /// The phase in which the request ended, its duration, and the exceeded limit.
    static func ending(of error: NetworkError) -> String? {
        let after = error.elapsed.map { "after \($0.readable)" }
        let phase = error.phase.map { phase in
            ["in phase \(phase.rawValue)", after].compactMap(\.self).joined(separator: " ")
        }
        let length = error.limit.map { "limit \($0.readable)" }
        let excess = error.exceeded.map { "\($0.rawValue) \(length ?? "limit")" } ?? length
        let parts = [phase ?? after, excess].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func oneLine(_ text: String) -> String { VisibleText.of(text) }
}

extension ExitCode {
    /// The code for an error: the command's arguments, and nothing else, make a configuration.
    init(_ error: any Error) {
        self = (error as? NetworkError)?.code == .invalidConfiguration ? .usage : .failure
    }
}

// MARK: - Servers that are not believed

extension ErrorText {
    /// The title of a refusal. Digests are long, so they get their own lines.
    private static func title(of refusal: NetworkError.TrustRefusal, _ error: NetworkError) -> String {
        refusal.reason == .pinMismatch ? "pin mismatch for \(refusal.host)" : error.reason
    }

    /// What the server presented, who signed it, and how to pin it.
    private static func details(of refusal: NetworkError.TrustRefusal, atProxy: Bool) -> [String] {
        var lines: [String] = []
        for certificate in refusal.path.prefix(limit) {
            let details = certificate.details
            lines.append("  saw       \(details.publicKey)  \(oneLine(details.subject))")
        }
        if refusal.path.count > limit { lines.append("            and \(refusal.path.count - limit) more") }
        lines += refusal.expected.prefix(limit).map { "  expected  \($0)" }
        if refusal.expected.count > limit {
            lines.append("            or one of \(refusal.expected.count - limit) more")
        }
        if let hint = hint(for: refusal, atProxy: atProxy) { lines.append("  \(hint)") }
        return lines
    }

    /// The number of lines, since servers choose how much they send.
    private static var limit: Int { 8 }

    /// The option that would help. Those for origins do not help with a proxy.
    private static func hint(for refusal: NetworkError.TrustRefusal, atProxy: Bool) -> String? {
        switch refusal.reason {
        case .unknownIssuer where atProxy, .selfSigned where atProxy:
            "to trust the proxy's own certificate authority, add --proxy-ca FILE"
        case _ where atProxy: nil
        // The detail names the setting only if it would help: if the certificate breaks a formal rule.
        case .malformed:
            refusal.detail?.contains("certificateRules") == true
                ? "to accept certificates that break only formal rules of RFC 5280, add --compatible" : nil
        case .unknownIssuer, .selfSigned: "to trust a certificate authority of your own, add --ca FILE"
        default: nil
        }
    }
}
