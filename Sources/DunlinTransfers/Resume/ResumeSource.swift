internal import DunlinSecure
internal import DunlinSemantics

/// The source of a part file's bytes: a hash of the answer's provenance, and of the form in which it was asked for. The
/// same validator may name another file for another user, origin, path or Host, and another form of the file.
///
/// It is stored beside the file, so the hash is salted and does not reveal the user.
struct ResumeSource: Sendable, Hashable {
    let salt: [UInt8]
    /// Two hashes. In the second the user's jar counts whether it added cookies or not, with the names of those that it
    /// has after the answer, because that may set its first cookie, or remove its last. Without a jar, and if the
    /// answer sets none, the second is random: a cookie that comes otherwise is that of a login.
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
        let salt = Self.random(Self.saltLength)
        let texts = [answer.text, answer.setsCookies ? answer.textAfterwards : nil]
        self.salt = salt
        hash = texts.flatMap { text in
            text.flatMap { Self.hash($0, salt) } ?? Self.random(Self.hashLength / 2)
        }
    }

    /// Whether an answer is for the same user and from the same source.
    func isOf(_ answer: Answer) -> Bool {
        let half = Self.hashLength / 2
        return [(answer.text, hash[..<half]), (answer.textWithJar, hash[half...])].contains { text, hash in
            text.flatMap { Self.hash($0, salt) } == Array(hash)
        }
    }

    /// Who asked what for what came, as text.
    struct Answer: Sendable {
        /// The text; nil if nobody continues what came.
        let text: Bytes?
        /// The texts in which the jar counts, with the cookies that were sent and with those that it has now; nil
        /// without one.
        let textWithJar: Bytes?
        let textAfterwards: Bytes?
        /// Whether it sets cookies, or a redirect that led to it has.
        let setsCookies: Bool

        init(
            _ text: Bytes?, withJar textWithJar: Bytes? = nil, afterwards textAfterwards: Bytes? = nil,
            setsCookies: Bool = false
        ) {
            (self.text, self.textWithJar) = (text, textWithJar)
            (self.textAfterwards, self.setsCookies) = (textAfterwards, setsCookies)
        }

        /// The answer of a call's last exchange. An answer that was not sent for, as an interceptor gives it, is
        /// nobody's.
        init(to sending: Sending) {
            let provenance = sending.callHistory?.provenance ?? Provenance()
            let forms = provenance.steps.map { Self.form(of: $0, hiding: sending.unstoredFields) }
            let head = sending.call.head
            self.init(
                Self.text(provenance.texts(for: head, \.usual), forms),
                withJar: Self.text(provenance.texts(for: head, \.withJar), forms),
                afterwards: Self.text(provenance.texts(for: head, \.afterwards), forms),
                setsCookies: provenance.steps.contains { $0.answer.fields.contains("set-cookie") })
        }

        /// Each part with its length, so that different ones give different texts.
        private static func text(_ texts: [[Bytes]]?, _ forms: [[Bytes]?]) -> Bytes? {
            guard let texts else { return nil }
            var all: [UInt8] = []
            for (parts, form) in zip(texts, forms) {
                guard let form else { return nil }
                for part in parts + form { all += "\(part.count):".utf8 + part.array }
                all += "\n".utf8
            }
            return Bytes(all)
        }

        /// The form of the file, such as its language or type: what the request says in `Accept`, though no server
        /// names it, and in the fields that the answer's Vary names. Of secret fields only the cookies count here, as
        /// they were sent: the others say who asks. A language does not count unless it is named, since it is often the
        /// system's. Nil if the answer depends on more than can be known: then nothing is in the same form.
        private static func form(of step: Provenance.Step, hiding secret: HTTP.SecretFields) -> [Bytes]? {
            guard case .names(let names) = VaryField(step.answer.fields) else { return nil }
            let sent = step.request.head.fields
            var fields = ResumeData.kept(sent, hiding: secret)
            if fields["accept"] ?? "" == "" { fields["accept"] = "*/*" }
            fields["cookie"] = sent["cookie"]
            return Set(["accept"] + names).sorted().filter { fields.contains($0) }.flatMap { name in
                [Bytes(name.utf8), Bytes(NormalValue.of(name, fields.rawValues(of: name)).array)]
            }
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    /// The salted hash; nil if it cannot be computed: then nothing counts as the same.
    private static func hash(_ text: Bytes, _ salt: [UInt8]) -> [UInt8]? {
        do throws(HashFunction.Unavailable) {
            return try HashFunction.sha256.hash(of: Bytes(salt + text.array)).array
        } catch {
            return nil
        }
    }
}

extension ResumeSource: CustomReflectable {
    /// Shows nothing of the user.
    var customMirror: Mirror { Mirror(self, children: []) }
}
