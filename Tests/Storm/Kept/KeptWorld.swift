import Dunlin
import DunlinImages
import DunlinTesting
import Foundation
import Synchronization

/// Sessions of several users that share a cache and a cache of pictures, and who asks through each.
final class KeptWorld: Sendable {
    /// A value that changes, and all that it was since a round began.
    private struct Changing {
        private(set) var now: String
        private(set) var seen: Set<String>

        init(_ now: String) { (self.now, seen) = (now, [now]) }

        mutating func set(_ next: String) { (now, seen) = (next, seen.union([next])) }
        mutating func begin() { seen = [now] }
    }

    private struct State {
        /// The user of the sessions' credentials.
        var users = KeptLogin.all.map { _ in Changing("alice") }
        /// The cookie of each jar: a user and a mood.
        var cookies = [Changing("alice~calm"), Changing("bob~calm")]
        var proxy = Changing("-")
        /// The versions when resources were removed from the HTTP cache, and from that of pictures as well.
        var removed: [(resource: KeptResource, version: Int, at: ContinuousClock.Instant, ofPictures: Bool)] = []
        var start = ContinuousClock.Instant.now
    }

    let server: KeptServer
    let sessions: [HTTPSession]
    let downloaders: [ImageDownloader]
    private let cache: HTTPSession.Cache
    private let pictures: AutoPurgingImageCache
    private let jars = [CookieJar(), CookieJar()]
    private let state = Mutex(State())

    init(_ server: KeptServer, on loop: PrivateLoop, folder: String?) throws {
        self.server = server
        cache = HTTPSession.Cache(.images, folder: folder)
        pictures = try AutoPurgingImageCache(capacity: 64 << 20, preferredUsage: 32 << 20, pressure: nil)
        let chosen = KeptProxy()
        let (cache, pictures, jars) = (cache, pictures, jars)
        sessions = try KeptLogin.all.map { login in
            var configuration = HTTPSession.Configuration(
                baseURL: server.url(of: KeptResource(host: login.host, path: "/")))
            configuration.fields["Accept-Language"] = login.language
            (configuration.resolver, configuration.cache) = (server.resolver, cache)
            (configuration.proxy, configuration.basicInClearText) = (.none, .allowed)
            configuration.coalescing.isOn = true
            switch login.login {
            case .open: break
            case .credentials: configuration.credentials = .basic(user: "alice", password: "pw")
            case .password(let user): configuration.credentials = .password(user: user, password: "pw")
            case .jar(let number): configuration.cookies = jars[number]
            case .interceptor(let user):
                configuration.userID = user
                configuration.interceptors.append(
                    .exchange { request, next in
                        try await next(request) { $0.head.fields["Authorization"] = "Bearer \(user)" }
                    })
            case .guarded:
                configuration.guard = .nothing
                configuration.guard?.allowedAddresses = ["127.0.0.2"]
            case .proxies: configuration.proxy = .by { _ in server.proxy(of: chosen.user) }
            }
            configuration.use(loop)
            return try HTTPSession(configuration)
        }
        self.chosen = chosen
        downloaders = sessions.map { ImageDownloader(session: $0, cache: pictures) }
        for jar in jars.indices { try setCookie(of: jar) }
    }

    private let chosen: KeptProxy

    func end() async {
        for downloader in downloaders { await downloader.shutdown() }
        for session in sessions { await session.shutdown(grace: .seconds(5)) }
        await cache.close()
    }

    // MARK: What is so

    /// What was so before counts no more.
    func beginRound() {
        state.withLock { state in
            for index in state.users.indices { state.users[index].begin() }
            for index in state.cookies.indices { state.cookies[index].begin() }
            state.proxy.begin()
            state.start = .now
        }
    }

    var start: ContinuousClock.Instant { state.withLock { $0.start } }

    /// The version below which nothing of a resource may be given to who asks then.
    func oldest(of resource: KeptResource, asPicture: Bool, at time: ContinuousClock.Instant) -> Int {
        state.withLock { state in
            state.removed.filter { $0.resource == resource && $0.at < time && ($0.ofPictures || !asPicture) }
                .map(\.version).max() ?? 0
        }
    }

    /// Who may be asking in this round, as a host sees it; others than the first are led to by a redirect.
    func askers(_ call: KeptCall, at host: String, isFirst: Bool) -> Set<KeptAsker> {
        let login = KeptLogin.all[call.session], isSame = host == call.resource.host
        return state.withLock { state in
            switch login.login {
            case .open:
                switch call.way {
                case .session: [.nobody]
                case .field, .basic, .bearer: [isSame ? KeptAsker(user: call.user) : .nobody]
                case .cookie: [isSame ? KeptAsker(cookie: call.user) : .nobody]
                case .password: isSame ? [.nobody, KeptAsker(user: call.user)] : [.nobody]
                }
            case .credentials:
                if host != login.host {
                    [.nobody]
                } else {
                    // A redirect may lead to where they are for.
                    Set(state.users[call.session].seen.map { KeptAsker(user: $0) })
                        .union(isFirst || isSame ? [] : [.nobody])
                }
            // Not sent before somebody asks for it.
            case .password(let user): host == login.host ? [.nobody, KeptAsker(user: user)] : [.nobody]
            case .guarded: []
            case .jar(let number):
                Set(state.cookies[number].seen.map { KeptAsker(cookie: String($0.prefix { $0 != "~" })) })
            case .interceptor(let user): [KeptAsker(user: user)]
            case .proxies: Set(state.proxy.seen.map { KeptAsker(proxy: $0) })
            }
        }
    }

    /// The variants that it may ask for in this round.
    func selected(_ call: KeptCall, of page: KeptPage) -> Set<String> {
        let login = KeptLogin.all[call.session]
        switch page.vary {
        case "X-Theme": return [call.theme]
        case "Accept-Language": return [login.language]
        case "Cookie":
            guard case .jar(let number) = login.login else { return ["-"] }
            return state.withLock { state in
                Set(state.cookies[number].seen.map { $0.split(separator: "~").last.map(String.init) ?? "-" })
            }
        default: return ["-"]
        }
    }

    // MARK: Changes

    /// Changes something of who asks, or of what there is: mostly what is asked for just now.
    func change(_ dice: inout SeededGenerator, near resource: KeptResource) async throws {
        let user = KeptAsker.names[dice.next(below: 3)], jar = dice.next(below: 2)
        switch dice.next(below: 15) {
        case 0, 1:
            let number = [3, 4][dice.next(below: 2)]
            state.withLock { $0.users[number].set(user) }
            try sessions[number].replace(credentials: .basic(user: user, password: "pw"))
        case 2, 3:
            state.withLock { state in
                let owner = state.cookies[jar].now.prefix { $0 != "~" }
                state.cookies[jar].set("\(owner)~\(["calm", "glad", "sad"][dice.next(below: 3)])")
            }
            try setCookie(of: jar)
        case 4:
            state.withLock { state in
                state.cookies[jar].set("-~-")
                state.cookies[jar].set("\(user)~calm")
            }
            jars[jar].removeAll()
            try setCookie(of: jar)
        case 5:
            let next = dice.next(below: 3) == 0 ? "-" : user
            state.withLock { $0.proxy.set(next) }
            chosen.user = next
        case 6: sessions[5 + jar].forgetPasswords()
        case 7, 8:
            try await remove(server.url(of: resource), resource, by: downloaders[dice.next(below: downloaders.count)])
        case 9: try await remove(server.url(of: resource), resource, by: nil)
        case 10 where dice.next(below: 8) == 0:
            let versions = server.versions()
            await cache.removeAll()
            pictures.removeAll()
            state.withLock { $0.removed += versions.map { ($0.key, $0.value, .now, true) } }
        default: server.change(resource)
        }
    }

    private func remove(_ url: String, _ resource: KeptResource, by downloader: ImageDownloader?) async throws {
        server.change(resource)
        let version = server.version(of: resource)
        if let downloader { try await downloader.invalidate(url) } else { try await cache.remove(url) }
        state.withLock { $0.removed.append((resource, version, .now, downloader != nil)) }
    }

    private func setCookie(of jar: Int) throws {
        let value = state.withLock { $0.cookies[jar].now }
        try jars[jar].set(HTTP.Cookie(name: "me", value: value, domain: "kept.test", isHostOnly: false))
    }
}

/// The user of the proxy that is chosen.
final class KeptProxy: Sendable {
    private let name = Mutex("-")

    var user: String {
        get { name.withLock(\.self) }
        set { name.withLock { $0 = newValue } }
    }
}
