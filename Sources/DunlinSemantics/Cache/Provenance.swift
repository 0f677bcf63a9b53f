package import DunlinTypes

/// What an answer is of: a step for each hop, in the order of the redirects. A call has it whose answer is kept outside
/// the session's cache, in a file or as a picture.
package struct Provenance: Sendable {
    package struct Step: Sendable {
        /// The request with the cookies that it was sent with.
        package fileprivate(set) var request: CacheRequest
        /// The head that was sent.
        let sent: RequestHead
        package let answer: ResponseHead
        /// Who asked, for what is kept in a file.
        let names: Names
        /// The terms without the network, as text: whoever changes the network has the same file of the same origin.
        let rules: String
        /// Whether it was sent as the one who asked.
        let isConfirmed: Bool
        /// Whether it was sent to another origin, target or Host, or by another method, than was asked for.
        let isElsewhere: Bool
        /// When it was sent, and when the answer came, in seconds since 1970.
        let sentAt: Int64
        let receivedAt: Int64

        package init(
            _ request: CacheRequest, sent: RequestHead, _ answer: ResponseHead, _ names: Names, rules: String,
            isConfirmed: Bool, isElsewhere: Bool, sentAt: Int64, receivedAt: Int64
        ) {
            (self.request, self.sent, self.answer, self.names) = (request, sent, answer, names)
            (self.rules, self.isConfirmed, self.isElsewhere) = (rules, isConfirmed, isElsewhere)
            (self.sentAt, self.receivedAt) = (sentAt, receivedAt)
        }
    }

    package private(set) var steps: [Step] = []

    package init() {}

    package mutating func add(_ step: Step) { steps.append(step) }

    mutating func changeFirst(_ change: (inout CacheRequest) -> Void) {
        if !steps.isEmpty { change(&steps[0].request) }
    }

    package mutating func removeLast() { _ = steps.popLast() }
}

// MARK: - For files

extension Provenance.Step {
    /// Who asked, as texts that are the same for the same user and for nobody else. They may contain secrets.
    package struct Names: Sendable {
        package let usual: Bytes?
        /// The same with the user's jar, whether it added cookies or not, and with the names of the cookies that were
        /// sent; nil without a jar.
        package let withJar: Bytes?
        /// The same with the names of those that the jar has after the answer.
        package let afterwards: Bytes?
        /// Whether something was sent that says who asks. A known password is not sent before a server asks for it:
        /// what came before that is nobody's.
        let isNamed: Bool

        package init(_ usual: Bytes?, withJar: Bytes?, afterwards: Bytes? = nil, isNamed: Bool) {
            (self.usual, self.withJar, self.afterwards, self.isNamed) = (usual, withJar, afterwards, isNamed)
        }
    }

    /// Who asked where, and under which terms, as text.
    ///
    /// The query is left out, since it is often signed anew each time, and so is the path if it is the one that was
    /// `asked` for: whoever asks for another says that it has the same file.
    fileprivate func text(_ name: KeyPath<Names, Bytes?>, asked: String?) -> [Bytes]? {
        guard let name = names[keyPath: name], isConfirmed else { return nil }
        var origin = sent.origin.description
        if let address = sent.origin.route?.address { origin += " \(address)" }
        if let host = CacheKey.ownHost(of: sent) { origin += " Host: \(host)" }
        let path = String(sent.path)
        let texts = [origin, path == asked ? "" : path, rules, names.isNamed ? "named" : "not named"]
        return [name] + texts.map { Bytes($0.utf8) }
    }
}

extension Provenance {
    /// Who asked where for each hop, under which terms; nil if nobody may continue what came.
    package func texts(for asked: RequestHead, _ name: KeyPath<Step.Names, Bytes?>) -> [[Bytes]]? {
        if steps.isEmpty { return nil }
        var texts: [[Bytes]] = []
        for (index, step) in steps.enumerated() {
            let path = index == 0 ? String(asked.path) : nil
            guard let text = step.text(name, asked: path) else { return nil }
            texts.append(text)
        }
        return texts
    }
}

extension RequestHead {
    /// The target without its query.
    fileprivate var path: Substring { target.prefix { $0 != "?" } }
}
