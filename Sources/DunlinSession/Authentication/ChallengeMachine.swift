/// Decides how the challenges of a call's responses are answered, and when no longer.
///
/// Rules:
/// 1. The hooks are asked first, about one protection space after another, the strongest first, until they do not
///    reject one. Their answer is sent. If they reject all, the response is delivered.
/// 2. If they leave it to the default, the password of the request or its session answers that space. Without hooks, it
///    answers the strongest space that it can. Either happens once in each realm: a second challenge of the same realm
///    means that the password is wrong, and is delivered.
/// 3. An answer that was sent unasked, because it was accepted before, is not counted: the password may have been
///    replaced.
/// 4. Answers by which other requests were accepted are tried once in each space before hooks are asked.
/// 5. After a number of refusals of the hooks' answers, the call fails. After a number of answers by the password,
///    whatever realms the server invents, the response is delivered.
struct ChallengeMachine {
    /// The origin of the answer that the server refused.
    enum Answerer {
        case hook
        case password
        /// An accepted answer that was remembered and sent unasked.
        case memory
    }

    enum Action: Equatable {
        /// Ask the hooks about the space at this index.
        case ask(Int)
        case answerByPassword
        case deliver
        case fail
    }

    static let mostHookAnswers = 5
    static let mostPasswordAnswers = 3

    private let hasHooks: Bool
    private let hasPassword: Bool
    private var spaces: [HTTPSession.AuthenticationChallenge.ProtectionSpace] = []
    /// The number of refused answers by the hooks.
    private(set) var refusals = 0
    private var passwordAnswers = 0
    /// The realms that the password has answered.
    private var answered: Set<HTTPSession.AuthenticationChallenge.ProtectionSpace> = []

    /// The spaces in which remembered answers were tried.
    private var recalled: Set<HTTPSession.AuthenticationChallenge.ProtectionSpace> = []

    init(hasHooks: Bool, hasPassword: Bool) {
        self.hasHooks = hasHooks
        self.hasPassword = hasPassword
    }

    /// Whether the password may still answer the latest challenge.
    var mayUsePassword: Bool {
        hasPassword && passwordAnswers < Self.mostPasswordAnswers && answered.isDisjoint(with: spaces)
    }

    /// Handles a response that asks for one of these spaces. `refused` is the origin of the answer that the request
    /// carried.
    mutating func challenged(
        _ spaces: [HTTPSession.AuthenticationChallenge.ProtectionSpace], refused: Answerer?
    ) -> Action {
        self.spaces = spaces
        if spaces.isEmpty { return .deliver }
        if refused == .hook { refusals += 1 }
        guard hasHooks else { return byDefault() }
        return refusals < Self.mostHookAnswers ? .ask(0) : .fail
    }

    /// The action after the hooks have rejected the space at `index`.
    func rejected(_ index: Int) -> Action { index + 1 < spaces.count ? .ask(index + 1) : .deliver }

    /// The action if the hooks have no opinion.
    mutating func byDefault() -> Action {
        guard mayUsePassword else { return .deliver }
        passwordAnswers += 1
        return .answerByPassword
    }

    /// Whether remembered answers may be tried in this space; true once.
    mutating func recalls(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) -> Bool {
        recalled.insert(space).inserted
    }

    /// Notes that the password has answered this space and was refused.
    mutating func answered(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) {
        answered.insert(space)
    }
}
