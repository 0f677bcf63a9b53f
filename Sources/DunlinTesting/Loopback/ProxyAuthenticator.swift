internal import DunlinTypes
internal import Synchronization

extension LoopbackProxy {
    /// Decides who may use the proxy, and challenges others. Its Digest (RFC 7616) is computed here and not by Dunlin's
    /// own machine, so that each can be checked against the other.
    final class Authenticator: Sendable {
        private struct State {
            var nonce = 0
            /// The counts that were used with the nonce.
            var counts: Set<String> = []
        }

        let user: String
        let password: String
        private let login: Login
        private let state = Mutex(State())

        private static let realm = "loopback"

        init(user: String, password: String, login: Login) {
            (self.user, self.password, self.login) = (user, password, login)
        }

        /// The challenge field; nil for a client that may pass.
        func challenge(_ method: String, _ target: String, _ authorization: String?) -> String? {
            switch login {
            case .basic:
                let pair = "Basic " + PEM.base64(Array("\(user):\(password)".utf8))
                return authorization == pair ? nil : "Basic realm=\"\(Self.realm)\""
            case .digest(let uses):
                let answer = authorization.flatMap(Self.parameters) ?? [:]
                return state.withLock { state in
                    let isRight = answer["response"] == response(to: answer, method) && answer["uri"] == target
                    let isKnown = answer["nonce"] == Self.name(state.nonce)
                    if isRight, isKnown, state.counts.count < uses,
                        state.counts.insert(answer["nc"] ?? "").inserted
                    {
                        return nil
                    }
                    // The nonce is used up or unknown; otherwise the client has none yet, or its password is wrong.
                    if isRight { state = State(nonce: state.nonce + 1) }
                    return "Digest realm=\"\(Self.realm)\", nonce=\"\(Self.name(state.nonce))\", qop=\"auth\", "
                        + "algorithm=SHA-256" + (isRight ? ", stale=true" : "")
                }
            }
        }

        private static func name(_ nonce: Int) -> String { "nonce-\(nonce)" }

        private func response(to answer: [String: String], _ method: String) -> String? {
            guard let nonce = answer["nonce"], let count = answer["nc"], let own = answer["cnonce"],
                let target = answer["uri"], answer["username"] == user, answer["realm"] == Self.realm,
                answer["qop"] == "auth", answer["algorithm"] == "SHA-256"
            else { return nil }
            let first = Self.hash("\(user):\(Self.realm):\(password)")
            return Self.hash("\(first):\(nonce):\(count):\(own):auth:" + Self.hash("\(method):\(target)"))
        }

        private static func hash(_ text: String) -> String {
            do { return Bytes(Array(try Digest.sha256(text.utf8))).hex } catch { return "" }
        }

        /// Parses the field. Quoted commas do not occur in what is requested here.
        private static func parameters(_ authorization: String) -> [String: String]? {
            guard authorization.hasPrefix("Digest ") else { return nil }
            var result: [String: String] = [:]
            for pair in authorization.dropFirst(7).split(separator: ",") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                let name = String(parts[0].drop { $0 == " " })
                result[name] = String(parts[1].filter { $0 != "\"" })
            }
            return result
        }
    }
}
