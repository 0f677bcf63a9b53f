/// Finds secrets by their form, wherever they stand: tokens of well-known services, keys, and JSON Web Tokens.
///
/// What is secret by its name is left out before. This finds what a name does not tell, such as a token in a text.
enum SecretScan {
    private struct Form {
        let name: String
        let start: [UInt8]
        /// How many letters, digits, `-` and `_` follow at least.
        let length: Int

        init(_ name: String, _ start: String, _ length: Int) {
            (self.name, self.start, self.length) = (name, Array(start.utf8), length)
        }
    }

    private static let forms = [
        Form("a key of AWS", "AKIA", 16), Form("a key of AWS", "ASIA", 16),
        Form("a token of GitHub", "ghp_", 30), Form("a token of GitHub", "gho_", 30),
        Form("a token of GitHub", "ghs_", 30), Form("a token of GitHub", "github_pat_", 30),
        Form("a token of GitLab", "glpat-", 20), Form("a token of Slack", "xoxb-", 20),
        Form("a token of Slack", "xoxp-", 20), Form("a key of Google", "AIza", 35),
        Form("a key of Stripe", "sk_live_", 16), Form("a key of Stripe", "rk_live_", 16),
        Form("a key of a model API", "sk-", 32), Form("a token of npm", "npm_", 30),
        Form("a key of SendGrid", "SG.", 20), Form("a private key", "-----BEGIN PRIVATE KEY", 0),
        Form("a private key", "-----BEGIN RSA PRIVATE KEY", 0), Form("a private key", "-----BEGIN EC PRIVATE KEY", 0),
        Form("a private key", "-----BEGIN OPENSSH PRIVATE KEY", 0),
    ]
    /// The forms that begin with each byte.
    private static let formsByFirst = (0...255).map { first in forms.filter { $0.start[0] == UInt8(first) } }
    private static let webToken = Array("eyJ".utf8)

    /// What is found first, in words; nil if nothing is.
    static func find(in text: String) -> String? {
        let bytes = Array(text.utf8)
        for index in bytes.indices where index == 0 || !isWord(bytes[index - 1]) {
            if bytes[index] == webToken[0], isWebToken(bytes[index...]) { return "a JSON Web Token" }
            for form in formsByFirst[Int(bytes[index])] where bytes[index...].starts(with: form.start) {
                let rest = bytes[index...].dropFirst(form.start.count)
                if rest.prefix(while: isWord).count >= form.length { return form.name }
            }
        }
        return nil
    }

    /// Three parts with dots between them, of which two are JSON in Base64.
    private static func isWebToken(_ rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: webToken) else { return false }
        let head = rest.prefix { isWord($0) }
        let claims = rest.dropFirst(head.count)
        guard head.count > 10, claims.first == UInt8(ascii: "."), claims.dropFirst().starts(with: webToken) else {
            return false
        }
        let length = claims.dropFirst().prefix { isWord($0) }.count
        return rest.dropFirst(head.count + 1 + length).first == UInt8(ascii: ".")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
