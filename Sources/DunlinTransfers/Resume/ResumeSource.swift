internal import DunlinSecure
internal import DunlinTransport

/// The source of a part file's bytes: a hash of the user who requested them and of the origin that sent them after all
/// redirects. The same validator may name another file for another user or origin.
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

    /// Whether an answer is for the same user and from the same origin.
    func isOf(_ answer: Answer) -> Bool { Self.hash(answer, salt) == hash }

    /// The user who asked, and the origin that answered.
    struct Answer: Sendable {
        let asker: String
        let origin: String

        init(asker: String, origin: String) {
            (self.asker, self.origin) = (asker, origin)
        }

        /// The answer of a call's last exchange.
        init(of response: TransportResponse, to call: LiveCall) {
            self.init(asker: call.asker(over: response.hop), origin: call.request.head.origin.description)
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    /// The salted hash; nil if it cannot be computed, and then nothing counts as the same user's.
    private static func hash(_ answer: Answer, _ salt: [UInt8]) -> [UInt8]? {
        do throws(HashFunction.Unavailable) {
            let text = "\(answer.origin.utf8.count):\(answer.origin)\(answer.asker)"
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
