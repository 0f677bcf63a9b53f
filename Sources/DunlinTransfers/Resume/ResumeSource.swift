internal import DunlinSecure
internal import DunlinTransport

/// Whose bytes a part file holds: a hash of who asked for them, and of the origin that sent them after all redirects. A
/// validator names a state of one file; another user's, or another origin's, may have the same.
///
/// It is stored beside the file, so the hash has a salt of its own, and tells nobody who it was.
struct ResumeSource: Sendable, Hashable {
    let salt: [UInt8]
    let hash: [UInt8]

    static let saltLength = 16
    static let hashLength = 32

    /// Nil for what none can be.
    init?(salt: [UInt8], hash: [UInt8]) {
        guard salt.count == Self.saltLength, hash.count == Self.hashLength else { return nil }
        (self.salt, self.hash) = (salt, hash)
    }

    /// With a new salt.
    init(_ answer: Answer) {
        salt = Self.random(Self.saltLength)
        hash = Self.hash(answer, salt) ?? Self.random(Self.hashLength)
    }

    /// Whether an answer is of the same user and the same origin.
    func isOf(_ answer: Answer) -> Bool { Self.hash(answer, salt) == hash }

    /// Who asked, and who answered.
    struct Answer: Sendable {
        let asker: String
        let origin: String

        init(asker: String, origin: String) {
            (self.asker, self.origin) = (asker, origin)
        }

        /// Of the last exchange of a call.
        init(of response: TransportResponse, to call: LiveCall) {
            self.init(asker: call.asker(over: response.hop), origin: call.request.head.origin.description)
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    /// Nil where there is no such hash: then nothing is of the same user.
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
    /// Nothing of who it is.
    var customMirror: Mirror { Mirror(self, children: []) }
}
