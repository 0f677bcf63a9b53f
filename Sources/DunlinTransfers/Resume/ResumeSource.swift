internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// The source of a part file's bytes: a hash of the user who requested them, of the origin that sent them and, after a
/// redirect, of the URL. The same validator may name another file for another user, origin or URL.
///
/// It is stored beside the file, so the hash is salted and does not reveal the user.
struct ResumeSource: Sendable, Hashable {
    let salt: [UInt8]
    let hash: [UInt8]

    static let saltLength = 16
    static let hashLength = 32

    /// Creates a source from stored values; nil for impossible ones.
    init?(salt: [UInt8], hash: [UInt8]) {
        guard salt.count == Self.saltLength, hash.count == Self.hashLength else { return nil }
        (self.salt, self.hash) = (salt, hash)
    }

    /// Creates a source with a new salt.
    init(_ answer: Answer) {
        salt = Self.random(Self.saltLength)
        hash = Self.hash(answer, salt) ?? Self.random(Self.hashLength)
    }

    /// Whether an answer is for the same user and from the same source.
    func isOf(_ answer: Answer) -> Bool { Self.hash(answer, salt) == hash }

    /// The user who asked, and what answered.
    struct Answer: Sendable {
        let asker: String
        let server: String

        init(asker: String, server: String) {
            (self.asker, self.server) = (asker, server)
        }

        /// The answer of a call's last exchange.
        init(of response: TransportResponse, to call: LiveCall) {
            self.init(asker: call.asker(over: response.hop), server: Self.server(of: call))
        }

        /// The origin, for the URL that was requested: whoever requests another says that it has the same file. After a
        /// redirect the URL, but without the query if that has secrets, since it is then signed anew each time.
        private static func server(of call: LiveCall) -> String {
            let head = call.request.head
            guard call.callHistory?.redirects.isEmpty == false else { return head.origin.description }
            let url = head.origin.description + head.target
            let isSigned = WebAddress.withoutSecretsOfQuery(url, hiding: .usual) != url
            return isSigned ? String(url.prefix { $0 != "?" }) : url
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    /// The salted hash; nil if it cannot be computed, and then nothing counts as the same user's.
    private static func hash(_ answer: Answer, _ salt: [UInt8]) -> [UInt8]? {
        do throws(HashFunction.Unavailable) {
            let text = "\(answer.server.utf8.count):\(answer.server)\(answer.asker)"
            return try HashFunction.sha256.hash(of: Bytes(salt + Array(text.utf8))).array
        } catch {
            return nil
        }
    }
}

extension ResumeSource: CustomReflectable {
    /// Shows nothing of the user.
    var customMirror: Mirror { Mirror(self, children: []) }
}
