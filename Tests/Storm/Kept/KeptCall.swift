import Dunlin
import DunlinTesting

/// One request, and how what it brings is kept: all of it follows from the seed and its number.
struct KeptCall: Sendable, CustomStringConvertible {
    enum Use: Sendable, Equatable {
        case whole, stream, file, resumed, segments, journal, picture, shown
    }

    /// How a request says who asks, if the session does not.
    enum Way: CaseIterable, Sendable {
        case session, field, cookie, basic, bearer, password
    }

    let number: Int
    private(set) var session: Int
    let use: Use
    private(set) var way = Way.session
    private(set) var user: String
    private(set) var theme: String
    var resource: KeptResource
    private(set) var mode: HTTPSession.CacheMode?
    /// When it is cancelled.
    private(set) var cancel: Duration?
    /// The first of two: begins, and is stopped midway.
    let begins: Bool

    init(_ number: Int, seed: UInt64) {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0001)
        var near = SeededGenerator(seed: seed &+ UInt64((number + 20) / 40) &* 0x1_0000_0003)
        // Those that follow one another have much in common, so that they share and continue.
        func pick(_ count: Int) -> Int {
            let (own, common) = (dice.next(below: count), near.next(below: count))
            return dice.next(below: 4) == 0 ? own : common
        }
        self.number = number
        session = pick(KeptLogin.all.count)
        use =
            switch dice.next(below: 100) {
            case 0..<36: .whole
            case 36..<42: .stream
            case 42..<48: .file
            case 48..<53: .resumed
            case 53..<57: .segments
            case 57..<61: .journal
            case 61..<95: .picture
            default: .shown
            }
        user = KeptAsker.names[pick(3)]
        theme = pick(2) == 0 ? "light" : "dark"
        let isPicture = use == .picture || use == .shown
        let (host, page, own) = (pick(4) == 0 ? 1 : 0, pick(KeptPage.count), Way.allCases[pick(Way.allCases.count)])
        let kind: KeptPage.Kind = pick(3) == 0 ? (isPicture ? .toPicture : .toPage) : (isPicture ? .picture : .page)
        resource = KeptResource(host: KeptResource.hosts[host], path: "/\(kind.rawValue)/\(page)")
        if case .open = KeptLogin.all[session].login { way = own }
        // Pictures have no credentials of their own.
        if isPicture, [.basic, .bearer, .password].contains(way) { way = .field }
        if dice.next(below: 12) == 0 { mode = [.preferringStored, .reloading, .validating][dice.next(below: 3)] }
        // The HTTP cache would answer for a file.
        if [.file, .resumed, .segments, .journal].contains(use), dice.next(below: 4) != 0 { mode = .off }
        if dice.next(below: 12) == 0 { cancel = .microseconds(dice.next(below: 3000)) }
        begins = dice.next(below: 2) == 0
    }

    /// Asks for what another did: as that one, who may be somebody else by now, as another in the same way, or in its
    /// own name.
    mutating func `continue`(_ former: KeptCall) {
        resource = former.resource
        guard number % 8 != 0 else { return }
        (session, way, theme) = (former.session, former.way, former.theme)
        if number % 8 > 2 { user = former.user }
    }

    var description: String {
        let login = KeptLogin.all[session]
        var words = ["\(number): \(resource) as \(use), session \(session) (\(login))"]
        if way != .session { words.append("\(user) by \(way)") }
        words.append(theme)
        if let mode { words.append("\(mode)") }
        if cancel != nil { words.append("cancelled") }
        return words.joined(separator: ", ")
    }
}

/// How a session says who asks.
struct KeptLogin: Sendable, CustomStringConvertible {
    enum Login: Sendable, Equatable {
        /// Each request may say it.
        case open
        /// Credentials, now one user's, now another's.
        case credentials
        case password(String)
        /// One of the jars.
        case jar(Int)
        /// An interceptor, and a `userID`.
        case interceptor(String)
        /// A proxy that is chosen each time.
        case proxies
        /// Nobody, who may go nowhere.
        case guarded
    }

    static let all = [
        KeptLogin(.open), KeptLogin(.open, "de"), KeptLogin(.open, base: 1), KeptLogin(.credentials),
        KeptLogin(.credentials, base: 1), KeptLogin(.password("alice")), KeptLogin(.password("bob")),
        KeptLogin(.jar(0)), KeptLogin(.jar(0), "de"),
        KeptLogin(.jar(1)), KeptLogin(.interceptor("alice")), KeptLogin(.interceptor("bob")), KeptLogin(.proxies),
        KeptLogin(.guarded),
    ]

    let login: Login
    let language: String
    let host: String

    private init(_ login: Login, _ language: String = "en", base: Int = 0) {
        (self.login, self.language, host) = (login, language, KeptResource.hosts[base])
    }

    var description: String { "\(login), \(language), \(host)" }
}
