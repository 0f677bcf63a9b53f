/// Decides what answers the challenges of a call's responses, and when nothing does any more.
///
/// Rules:
/// 1. The hooks are asked first, about one protection space after the other, the strongest first, until one is not
///    turned down. What they answer is sent. If all are turned down, the response is delivered.
/// 2. Where they leave it to the default, the password of the request or of its session answers that space. Where there
///    are none, it answers the strongest that it can. Both once in each realm: a second challenge of the same realm
///    means that it is wrong, and is delivered.
/// 3. An answer that was sent unasked, because it was right before, is not counted: it may have been replaced.
/// 4. What others got in with is tried once in each space before hooks are asked.
/// 5. After so many refusals of what the hooks answered, the call fails. After so many answers by the password,
///    whatever realms the server invents, its response is delivered.
struct ChallengeMachine {
    /// Who made the answer that the server did not take.
    enum Answerer {
        case hook
        case password
        /// It was sent unasked.
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
    /// How many answers of the hooks were refused.
    private(set) var refusals = 0
    private var passwordAnswers = 0
    /// The realms that the password has answered.
    private var answered: Set<HTTPSession.AuthenticationChallenge.ProtectionSpace> = []

    /// The spaces where what others got in with was tried.
    private var recalled: Set<HTTPSession.AuthenticationChallenge.ProtectionSpace> = []

    init(hasHooks: Bool, hasPassword: Bool) {
        self.hasHooks = hasHooks
        self.hasPassword = hasPassword
    }

    /// Whether the password may still answer what was asked last.
    var mayUsePassword: Bool {
        hasPassword && passwordAnswers < Self.mostPasswordAnswers && answered.isDisjoint(with: spaces)
    }

    /// A response asks for one of these. `refused`: whose answer the request went with.
    mutating func challenged(
        _ spaces: [HTTPSession.AuthenticationChallenge.ProtectionSpace], refused: Answerer?
    ) -> Action {
        self.spaces = spaces
        if spaces.isEmpty { return .deliver }
        if refused == .hook { refusals += 1 }
        guard hasHooks else { return byDefault() }
        return refusals < Self.mostHookAnswers ? .ask(0) : .fail
    }

    /// The hooks turn the space at `index` down.
    func rejected(_ index: Int) -> Action { index + 1 < spaces.count ? .ask(index + 1) : .deliver }

    /// The hooks have no opinion.
    mutating func byDefault() -> Action {
        guard mayUsePassword else { return .deliver }
        passwordAnswers += 1
        return .answerByPassword
    }

    /// Whether what others got in with may be tried in this space, which is so once.
    mutating func recalls(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) -> Bool {
        recalled.insert(space).inserted
    }

    /// The password has answered this space, and was refused.
    mutating func answered(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) {
        answered.insert(space)
    }
}
