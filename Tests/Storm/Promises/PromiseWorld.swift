import Dunlin
import DunlinTesting

/// What a session of a storm of promises is made with.
struct PromiseSettings: Sendable, CustomStringConvertible {
    /// How it proves who its user is, to the site home.
    enum Login: CaseIterable, Sendable {
        case none, basic, bearer, password, handler, originFields, interceptor, jar
    }

    var login = Login.none
    /// Its user. Sessions with different ones may share a cache.
    var owner = User.nobody
    var guardKind: GuardKind?
    var coalesces = false
    var hasCookies = false
    var isRetried = false
    var hasConstantField = false
    /// What stands around its requests and only observes, or asks twice.
    var observer = Observer.none
    var running: Int?

    enum Observer: CaseIterable, Sendable {
        case none, call, exchange, transport
    }

    var description: String {
        var words = ["login \(login) of \(owner)"]
        if let guardKind { words.append("guard by \(guardKind)") }
        if coalesces { words.append("coalescing") }
        if hasCookies { words.append("cookies") }
        if isRetried { words.append("retries") }
        if hasConstantField { words.append("X-Api-Key") }
        if observer != .none { words.append("interceptor around the \(observer)") }
        if let running { words.append("a queue of \(running)") }
        return words.joined(separator: ", ")
    }
}

/// Some sessions, which may share a cache and have different users, in whose name others ask as well.
struct PromiseWorld: Sendable, CustomStringConvertible {
    enum Store: CaseIterable, Sendable {
        case none, memory, folder, sharedMemory, sharedFolder
    }

    let number: Int
    private(set) var store = Store.none
    private(set) var isMocked = false
    private(set) var isProxied = false
    private(set) var settings: [PromiseSettings] = []

    init(_ number: Int, seed: UInt64) {
        var dice = SeededGenerator(seed: seed &+ 0x5EED &+ UInt64(number) &* 0x1_0000_0001)
        self.number = number
        store = Store.allCases[dice.next(below: Store.allCases.count)]
        switch dice.next(below: 10) {
        case 0: isMocked = true
        case 1: isProxied = true
        default: break
        }
        for _ in 0..<2 { settings.append(Self.settings(&dice, guards: mayGuard ? guards : [])) }
    }

    private static func settings(_ dice: inout SeededGenerator, guards: [GuardKind]) -> PromiseSettings {
        var settings = PromiseSettings()
        settings.owner = User.known[dice.next(below: User.known.count)]
        settings.login = PromiseSettings.Login.allCases[dice.next(below: PromiseSettings.Login.allCases.count)]
        if !guards.isEmpty, dice.next(below: 4) == 0 { settings.guardKind = guards[dice.next(below: guards.count)] }
        settings.coalesces = dice.next(below: 2) == 0
        settings.hasCookies = dice.next(below: 2) == 0
        settings.isRetried = dice.next(below: 3) == 0
        settings.hasConstantField = dice.next(below: 4) == 0
        if dice.next(below: 3) == 0 {
            settings.observer = PromiseSettings.Observer.allCases[dice.next(below: 4)]
        }
        if dice.next(below: 4) == 0 { settings.running = 4 }
        return settings
    }

    /// A proxy, and a transport of somebody else's, are not what guards of this storm are about.
    var mayGuard: Bool { !isProxied }
    /// Somebody else's transport dials no address that could be judged.
    var guards: [GuardKind] { isMocked ? [.port, .host] : GuardKind.allCases }

    /// A proxy knows nothing of overrides, and no address but 127.0.0.1.
    var sites: [Site] {
        if isProxied { return [.home, .away] }
        return isMocked ? [.home, .away, .inner] : Site.allCases
    }

    var description: String {
        var words = ["cache \(store)"]
        if isMocked { words.append("mock transport") }
        if isProxied { words.append("proxy") }
        return words.joined(separator: ", ") + "; " + settings.map(\.description).joined(separator: "; ")
    }
}
