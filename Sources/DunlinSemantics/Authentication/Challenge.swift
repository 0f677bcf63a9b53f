package import DunlinTypes

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110 §11.3).
///
/// Knows what the field says. Must not know what a scheme makes of it: that is `ChallengeChoice`'s.
package struct Challenge: Sendable, Equatable {
    /// The scheme, as written.
    package let scheme: String
    /// The token in place of parameters, for example with Negotiate.
    package internal(set) var token68: String?
    /// The parameters by name, in lower case, without the quotes of quoted strings. No value has control characters
    /// except tabs.
    package internal(set) var parameters: [String: Bytes] = [:]
    /// The reason not to answer it, whatever else it says.
    package internal(set) var problem: ChallengeProblem?

    package init(scheme: String) {
        self.scheme = scheme
    }

    /// The parameter with a name, in any case. Bytes that are not UTF-8 become U+FFFD.
    package subscript(name: String) -> String? {
        parameters[name.lowercased()].map { String($0) }
    }

    /// Whether it is of this scheme, whatever the case.
    package func isOf(_ scheme: String) -> Bool { self.scheme.lowercased() == scheme.lowercased() }

    /// Returns all challenges of a response, in order.
    package static func all(in fields: Fields, from challenger: Challenger) -> [Challenge] {
        all(in: fields.rawValues(of: challenger.challengeField))
    }

    /// Returns the challenges in fields, which are one list (RFC 9110 §5.3).
    package static func all(in values: [Bytes]) -> [Challenge] {
        var reader = ChallengeReader()
        for value in values { reader.read(value) }
        return reader.challenges
    }
}

extension Challenge: CustomStringConvertible {
    /// The challenge in one of its possible forms: parameters sorted by name, all of them quoted.
    package var description: String {
        if let token68 { return "\(scheme) \(token68)" }
        let pairs = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(QuotedText.of(String($0.value)))" }
        return ([scheme] + (pairs.isEmpty ? [] : [pairs.joined(separator: ", ")])).joined(separator: " ")
    }
}

/// A text as a quoted string (RFC 9110 §5.6.4).
enum QuotedText {
    static func of(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
