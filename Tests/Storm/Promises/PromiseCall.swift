import Dunlin
import DunlinTesting

/// One request of a storm of promises: all of it follows from the seed and its number.
struct PromiseCall: Sendable, CustomStringConvertible {
    /// How a request says who asks.
    enum Way: CaseIterable, Sendable {
        case session, none, field, basic, bearer, password, userInfo, handler, secretField
    }

    enum Page: Sendable, Equatable {
        case open, basic, digest
        case redirect(Site)
        /// To be handled once.
        case single
        /// Answered after a limit that the request has.
        case slow
    }

    enum Reading: CaseIterable, Sendable {
        case whole, stream, scope, download, handle, suspended
    }

    let number: Int
    private(set) var site = Site.home
    private(set) var user = User.nobody
    private(set) var way = Way.session
    private(set) var page = Page.open
    /// Which of the pages of its kind; how long a response keeps depends on it.
    private(set) var key = 0
    private(set) var reading = Reading.whole
    private(set) var mode: HTTPSession.CacheMode?
    private(set) var coalesces = true
    private(set) var isHead = false
    private(set) var guardKind: GuardKind?
    /// Where an override leads an alias.
    private(set) var aliasServer = Site.home
    private(set) var hasOwnHost = false
    private(set) var language = "en"
    /// A field that says nothing of the user, though its name looks secret.
    private(set) var constantField: String?
    private(set) var isSmall = false
    private(set) var cancel = PlannedCall.Cancel.never
    /// Asks for what no other request does, so that the server can tell whether it was asked.
    private(set) var isAlone = false

    static let smallest = 500

    init(_ number: Int, seed: UInt64, in world: PromiseWorld) {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0001)
        self.number = number
        chooseSite(&dice, world)
        chooseUser(&dice, world.settings[number % world.settings.count].login)
        choosePage(&dice, world)
        key = dice.next(below: 6)
        reading = dice.next(below: 2) == 0 ? .whole : Reading.allCases[dice.next(below: Reading.allCases.count)]
        if dice.next(below: 5) == 0 {
            mode = HTTPSession.CacheMode.allCases[dice.next(below: HTTPSession.CacheMode.allCases.count)]
        }
        coalesces = dice.next(below: 10) != 0
        isHead = page == .open && dice.next(below: 20) == 0
        if world.mayGuard, dice.next(below: 4) == 0 { guardKind = world.guards[dice.next(below: world.guards.count)] }
        language = dice.next(below: 2) == 0 ? "en" : "de"
        switch dice.next(below: 8) {
        case 0: constantField = "X-Api-Key"
        case 1: constantField = "Idempotency-Key"
        default: break
        }
        isSmall = dice.next(below: 10) == 0
        switch dice.next(below: 40) {
        case 0: cancel = .task(.microseconds(dice.next(below: 5000)))
        case 1: cancel = .handle(.microseconds(dice.next(below: 5000)))
        default: break
        }
        isAlone = dice.next(below: 4) == 0 && (guardKind != nil || mode == .storedOnly)
        if page == .slow { (cancel, reading) = (.never, .whole) }
    }

    private mutating func chooseSite(_ dice: inout SeededGenerator, _ world: PromiseWorld) {
        let sites = world.sites
        site = dice.next(below: 2) == 0 ? .home : sites[dice.next(below: sites.count)]
        if dice.next(below: 2) == 0 { aliasServer = .away }
        hasOwnHost = site != .alias && !world.isProxied && dice.next(below: 12) == 0
    }

    private mutating func chooseUser(_ dice: inout SeededGenerator, _ login: PromiseSettings.Login) {
        user = User.known[dice.next(below: User.known.count)]
        way = Way.allCases[dice.next(below: Way.allCases.count)]
        // Which of the two wins is not what this storm is about.
        if way == .secretField, login != .none { way = .field }
        if way == .userInfo, login != .none, site == .home { way = .password }
    }

    private mutating func choosePage(_ dice: inout SeededGenerator, _ world: PromiseWorld) {
        let sites = world.sites.filter { $0 != .alias }
        switch dice.next(below: 20) {
        case 0..<9: page = .open
        case 9..<13: page = .basic
        case 13..<15: page = .digest
        case 15..<18 where !hasOwnHost: page = .redirect(sites[dice.next(below: sites.count)])
        case 18: page = .single
        case 19 where dice.next(below: 20) == 0: page = .slow
        default: page = .open
        }
    }

    // MARK: What it asks for

    var label: String { "\(number)" }

    var method: HTTP.Method {
        if page == .single { return .post }
        return isHead ? .head : .get
    }

    var target: String {
        let name = isAlone ? "\(key)-\(number)" : "\(key)"
        return switch page {
        case .open: "/open/\(name)"
        case .basic: "/basic/\(name)"
        case .digest: "/digest/\(name)"
        case .redirect(let site): "/redirect/\(name)/\(site.rawValue)"
        case .single: "/single/\(key)-\(number)"
        case .slow: "/slow/\(key)-\(number)"
        }
    }

    /// What is there in the end.
    var lastSite: Site {
        if case .redirect(let site) = page { return site }
        return site
    }

    var lastTarget: String {
        guard case .redirect = page else { return target }
        return "/open/\(isAlone ? "\(key)-\(number)" : "\(key)")"
    }

    var description: String {
        var words = ["\(number): \(method) \(site.host)\(target) as \(user) by \(way), \(reading)"]
        if let mode { words.append("cache \(mode)") }
        if !coalesces { words.append("not coalesced") }
        if let guardKind { words.append("guard by \(guardKind)") }
        if site == .alias { words.append("overridden to \(aliasServer)") }
        if hasOwnHost { words.append("a Host of its own") }
        if let constantField { words.append(constantField) }
        if isSmall { words.append("small") }
        if case .never = cancel {} else { words.append("cancelled") }
        return words.joined(separator: ", ")
    }
}
