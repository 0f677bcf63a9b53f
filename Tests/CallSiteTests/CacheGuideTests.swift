import Dunlin
import DunlinTesting
import Folders
import Testing

/// The snippets of the guide to caching, word for word.
@Suite(.timeLimit(.minutes(10))) struct `Guide to caching` {
    @Test func `the examples about caches in folders, cache modes and the hook storing run as written`() async throws {
        let unmade = Folder.unmade()
        let folder = unmade.path
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in
            .response(
                fields: ["Content-Type": "application/json", "Cache-Control": "max-age=3600"],
                body: #"{"id":42,"name":"Ada"}"#)
        }
        let account = (id: "ada", name: "Ada")
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        // However slow the disk is, nobody gives up waiting for it.
        try configuration.use(ManualClock())
        configuration.cache = HTTPSession.Cache(.standard, folder: folder)

        configuration.coalescing.isOn = true

        configuration.userID = account.id

        configuration.hooks.storing = { task, head in
            task.tags.contains("private") ? .skip : nil
        }

        let client = try HTTPSession(configuration)
        _ = try await client.get("users/42", options: .init(tags: ["private"]), as: User.self)
        _ = try await client.get("users/42", as: User.self)
        let response = try await client.get(
            "users/42", as: .json(User.self))
        if let use = response.cacheUse {
            print(use.source, use.isStale, use)  // disk, false, dunlin; hit; ttl=42
        }

        #expect(response.cacheUse?.source == .memory && server.requests.count == 2)
        let user = try await client.get(
            "users/42", options: .init(cacheMode: .storedOnly), as: User.self)

        #expect(user.id == 42)
        let cache = try #require(client.configuration.cache)
        let gauges = cache.gauges
        #expect(gauges.hits == 2 && gauges.misses == 2 && gauges.diskBytes > 0)
        #expect(await cache.entries().map(\.url) == ["\(server.baseURL)/users/42"])
        await client.shutdown()
        await cache.close()

        // Another process would find it so.
        configuration.cache = HTTPSession.Cache(.standard, folder: folder)
        let next = try HTTPSession(configuration)
        #expect(try await next.get("users/42", as: .json(User.self)).cacheUse?.source == .disk)
        #expect(server.requests.count == 2)
        await next.shutdown()
        try await lookAt(try #require(configuration.cache))
        #expect(await configuration.cache?.entries().isEmpty == true)
        await configuration.cache?.close()
    }

    @Test func `the example about the size of a cache runs as written`() async throws {
        let folder = Folder.unmade().path
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test")
        configuration.cache = HTTPSession.Cache(
            .init(memory: 16 << 20, disk: 1 << 30, largestShare: 0.2),
            folder: folder)

        #expect(await configuration.cache?.entries().isEmpty == true)
        await configuration.cache?.close()
        let capacities: [HTTPSession.Cache.Capacity] = [.standard, .small, .images]
        #expect(capacities.map(\.memory) == [8, 4, 20].map { $0 << 20 })
        #expect(capacities.map(\.disk) == [256, 20, 150].map { $0 << 20 })
        #expect(capacities.allSatisfy { $0.largestShare == 0.05 })
    }

    private func lookAt(_ cache: HTTPSession.Cache) async throws {
        let gauges = cache.gauges
        print(gauges.hits, gauges.misses, gauges.stale, gauges.diskBytes)
        for entry in await cache.entries() { print(entry.url, entry.freshness) }
        try await cache.remove("https://api.test/users/42")
        await cache.removeAll()
    }
}
