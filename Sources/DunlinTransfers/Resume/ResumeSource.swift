internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// The source of a part file's bytes: a hash of the user who requested them, of the origin that sent them and, where a
/// redirect or an interceptor led elsewhere, of the path and Host, and of the form in which they were asked for. The
/// same validator may name another file for another user, origin, path or Host, and another form of the file.
///
/// It is stored beside the file, so the hash is salted and does not reveal the user.
struct ResumeSource: Sendable, Hashable {
    let salt: [UInt8]
    /// Two hashes. In the second the user's jar counts whether it added cookies or not, because the answer may set its
    /// first cookie, or remove its last. Without a jar, and if the answer sets none, the second is random: a cookie
    /// that comes otherwise is that of a login.
    let hash: [UInt8]

    static let saltLength = 16
    static let hashLength = 64

    /// Creates a source from stored values; nil for impossible ones.
    init?(salt: [UInt8], hash: [UInt8]) {
        guard salt.count == Self.saltLength, hash.count == Self.hashLength else { return nil }
        (self.salt, self.hash) = (salt, hash)
    }

    /// Creates a source with a new salt.
    init(_ answer: Answer) {
        salt = Self.random(Self.saltLength)
        let hashes = [answer.asker, answer.setsCookies ? answer.askerWithJar : nil].map { [salt] asker in
            asker.flatMap { Self.hash($0, answer, salt) } ?? Self.random(Self.hashLength / 2)
        }
        hash = hashes[0] + hashes[1]
    }

    /// Whether an answer is for the same user and from the same source.
    func isOf(_ answer: Answer) -> Bool {
        let half = Self.hashLength / 2
        if Self.hash(answer.asker, answer, salt) == Array(hash[..<half]) { return true }
        guard let asker = answer.askerWithJar else { return false }
        return Self.hash(asker, answer, salt) == Array(hash[half...])
    }

    /// The user who asked, and what answered.
    struct Answer: Sendable {
        let asker: String
        let askerWithJar: String?
        /// Whether it sets cookies, or a redirect that led to it has.
        let setsCookies: Bool
        let server: String
        /// The form of the file, such as its language or type; nil if an answer depends on more than can be known, and
        /// then nothing is in the same form.
        let form: String?

        init(
            asker: String, withJar askerWithJar: String? = nil, setsCookies: Bool = false, server: String,
            form: String? = ""
        ) {
            (self.asker, self.askerWithJar, self.setsCookies) = (asker, askerWithJar, setsCookies)
            (self.server, self.form) = (server, form)
        }

        /// The answer of a call's last exchange.
        init(of response: TransportResponse, to call: LiveCall) {
            self.init(
                asker: call.asker(over: response.hop), withJar: call.askerWithJar(over: response.hop),
                setsCookies: ((call.callHistory?.redirects ?? []).map(\.head) + [response.head]).contains {
                    $0.fields.contains("set-cookie")
                }, server: Self.server(of: call), form: Self.form(of: response, to: call))
        }

        /// What the request says in the fields that the answer's Vary names, or that of a redirect that led to it. Of
        /// secret fields only the cookies count here, as they were sent: the others say who asks. `Accept` counts
        /// though no server names it; a language does not, since that is often the system's.
        private static func form(of response: TransportResponse, to call: LiveCall) -> String? {
            var fields = ResumeData.kept(call.asked.head.fields, hiding: call.unstoredFields)
            if fields["accept"] ?? "" == "" { fields["accept"] = "*/*" }
            var form: Set<String> = []
            let redirects = (call.callHistory?.redirects ?? []).map { ($0.head, $0.cookie) }
            for (head, cookie) in redirects + [(response.head, (call.sent ?? call.request).head.fields["cookie"])] {
                guard case .names(let names) = VaryField(head.fields) else { return nil }
                fields["cookie"] = cookie
                for name in ["accept"] + names where fields.contains(name) {
                    let value = NormalValue.of(name, fields.rawValues(of: name))
                    form.insert("\(name): \(String(decoding: value, as: UTF8.self))")
                }
            }
            return form.sorted().joined(separator: "\n")
        }

        /// The origin, for the URL that was requested: whoever requests another says that it has the same file. If a
        /// redirect or an interceptor led to another path or Host, also these. The query is often signed anew each
        /// time.
        private static func server(of call: LiveCall) -> String {
            let head = (call.sent ?? call.request).head
            let path = head.target.prefix { $0 != "?" }
            let isRedirected = call.callHistory?.redirects.isEmpty == false
            let isRequested = !isRedirected && path == call.asked.head.target.prefix { $0 != "?" }
            let host = CacheKey.ownHost(of: head).map { " Host: \($0)" } ?? ""
            return head.origin.description + (isRequested ? "" : String(path)) + host
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    /// The salted hash; nil if it cannot be computed, or the form is unknown: then nothing counts as the same.
    private static func hash(_ asker: String, _ answer: Answer, _ salt: [UInt8]) -> [UInt8]? {
        guard let form = answer.form else { return nil }
        do throws(HashFunction.Unavailable) {
            let text = [answer.server, form].map { "\($0.utf8.count):\($0)" }.joined() + asker
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
