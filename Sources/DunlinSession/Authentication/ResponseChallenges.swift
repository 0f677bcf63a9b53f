internal import DunlinSemantics

/// The challenges of a response, one for each protection space, the strongest first.
struct ResponseChallenges {
    struct Item {
        let space: HTTPSession.AuthenticationChallenge.ProtectionSpace
        /// How a password can answer it, the strongest way first; empty if it cannot.
        let options: [ChallengeChoice.Option]
    }

    let items: [Item]

    init(_ response: ResponseHead) {
        let challenges = Challenge.all(in: response.fields, from: .origin)
        var items: [Item] = []
        func add(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace, _ option: ChallengeChoice.Option?) {
            let options = option.map { [$0] } ?? []
            if let index = items.firstIndex(where: { $0.space == space }) {
                items[index] = Item(space: space, options: items[index].options + options)
            } else {
                items.append(Item(space: space, options: options))
            }
        }
        for option in ChallengeChoice(challenges).options { add(.init(option.method, realm: option.realm), option) }
        for challenge in challenges where challenge.problem == nil {
            guard let method = challenge.otherMethod else { continue }
            add(.init(method, realm: challenge["realm"] ?? ""), nil)
        }
        self.items = items
    }

    /// The hashes of the body that some of the answers need.
    var bodyHashFunctions: [HashFunction] { items.flatMap(\.options).compactMap(\.bodyHashFunction) }

    var spaces: [HTTPSession.AuthenticationChallenge.ProtectionSpace] { items.map(\.space) }
}

extension ChallengeChoice.Option {
    var method: HTTPSession.AuthenticationChallenge.ProtectionSpace.Method {
        switch self {
        case .digest: .digest
        case .basic: .basic
        }
    }
}

extension Challenge {
    /// The method that no password can answer; nil for one that it can.
    fileprivate var otherMethod: HTTPSession.AuthenticationChallenge.ProtectionSpace.Method? {
        if isOf("Digest") || isOf("Basic") { return nil }
        return isOf("Bearer") ? .bearer : .other(scheme)
    }
}
