import Dunlin
import DunlinSemantics
import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `A cache of images` {
    private static func cache(
        _ capacity: Int = 1 << 20, _ preferred: Int = 1 << 19, _ pressure: (any MemoryPressureSource)? = nil,
        clock: some Clock<Duration> = ManualClock()
    ) throws -> AutoPurgingImageCache {
        try AutoPurgingImageCache(
            capacity: capacity, preferredUsage: preferred, pressure: pressure, clock: clock)
    }

    @Test(.rows("IC-1")) func `a cache of images has AFNetworking's size by default`() {
        let cache = AutoPurgingImageCache()
        #expect(cache.capacity == 100 * 1024 * 1024)
        #expect(cache.preferredUsage == 60 * 1024 * 1024)
        #expect(cache.memoryUsage == 0)
    }

    @Test(.rows("IC-14")) func `a cache that prefers more than it may have is refused`() throws {
        let error = #expect(throws: NetworkError.self) { try Self.cache(10, 11) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(.rows("IC-2", "IC-8"), arguments: [(850, 300, 1.0), (850, 300, 2.0), (1, 1, 3.0)])
    func `an image counts four bytes for each pixel, whatever its scale, and nothing for what is beside them`(
        width: Int, height: Int, scale: Double
    ) throws {
        let cache = try Self.cache(10 << 20)
        cache.add(try Pictures.buffer(width, height, scale: scale), for: "a")
        #expect(cache.memoryUsage == width * height * 4)
    }

    @Test(.rows("IC-1", "IC-2", "IC-3", "IC-15"))
    func `a cache for ten pictures holds ten, and six after the eleventh`() throws {
        let bytes = 1_020_000
        let cache = try Self.cache(10 * bytes, 6 * bytes)
        for number in 1...11 {
            var picture = try Pictures.buffer(850, 300)
            picture.colorProfile = Bytes([UInt8](repeating: 7, count: 3000))
            let key = ImageKey(url: "http://a.test/\(number)")
            cache.add(StoredImage(picture), for: key, since: 0)
            #expect(cache.count == (number == 11 ? 6 : number))
        }
        #expect(cache.memoryUsage == 6 * bytes)
    }

    @Test(.rows("IC-7", "IC-11", "IC-13")) func `an added image is found until it is removed`() throws {
        let cache = try Self.cache()
        #expect(!cache.removeAll())
        cache.add(try Pictures.buffer(2, 2, number: 7), for: "a")
        #expect(cache.image(for: "a").map(Pictures.number) == 7)
        #expect(cache.removeImage(for: "a"))
        #expect(!cache.removeImage(for: "a"))
        #expect(cache.image(for: "a") == nil)
        let key = ImageKey(url: "http://a.test/1")
        #expect(cache.add(StoredImage(try Pictures.buffer(2, 2)), for: key, since: cache.removals(of: key.url)))
        #expect(cache.removeImage(for: key))
        #expect(!cache.removeImage(for: key))
    }

    @Test(.rows("IC-6")) func `keys with the same joined text differ`() throws {
        let cache = try Self.cache()
        let keys = [
            ImageKey(url: "http://a.test/a", filter: "bc"), ImageKey(url: "http://a.test/ab", filter: "c"),
            ImageKey(url: "http://a.test/abc"), ImageKey(url: "http://a.test/abc", scale: 2),
        ]
        for (number, key) in keys.enumerated() {
            cache.add(StoredImage(try Pictures.buffer(1, 1, number: UInt8(number))), for: key, since: 0)
        }
        cache.add(try Pictures.buffer(1, 1, number: 99), for: "http://a.test/abc")
        for (number, key) in keys.enumerated() {
            #expect(cache.images(for: key).map { Pictures.number($0.image) } == [UInt8(number)])
        }
        #expect(cache.image(for: "http://a.test/abc").map(Pictures.number) == 99)
    }

    @Test func `invalidating a URL removes all that was made of it and nothing else`() throws {
        let cache = try Self.cache()
        for key in [
            ImageKey(url: "http://a.test/1"), ImageKey(url: "http://a.test/1", filter: "f"),
            ImageKey(url: "http://a.test/2"),
        ] { cache.add(StoredImage(try Pictures.buffer(1, 1)), for: key, since: 0) }
        #expect(cache.invalidate("http://a.test/1") == 2)
        #expect(cache.invalidate("http://a.test/1") == 0)
        #expect(cache.count == 1)
    }

    @Test(.rows("IC-9", "AP-9")) func `some pressure purges to the preferred usage, and critical pressure removes all`()
        async throws
    {
        let source = ToldPressure()
        let each = 16 * 16 * 4
        let cache = try Self.cache(1 << 20, 4 * each, source)
        for number in 10..<30 { cache.add(try Pictures.buffer(16, 16), for: "\(number)") }
        #expect(cache.memoryUsage == 20 * each)
        try await eventually("it observes") { source.begun == 1 }
        source.tell(.some)
        try await eventually("the cache shrinks") { cache.memoryUsage == 4 * each }
        #expect(cache.image(for: "29") != nil)
        source.tell(.critical)
        try await eventually("the cache is empty") { cache.memoryUsage == 0 }
    }

    @Test func `the observation of pressure begins with the first image and ends with the cache`() async throws {
        let source = ToldPressure()
        weak var gone: AutoPurgingImageCache?
        do {
            let cache = try Self.cache(10_000, 5000, source)
            gone = cache
            #expect(source.begun == 0)
            cache.add(try Pictures.buffer(1, 1), for: "a")
            cache.add(try Pictures.buffer(1, 1), for: "b")
            try await eventually("it observes") { source.begun == 1 }
        }
        try await eventually("the observation ends") { source.ended == 1 }
        #expect(gone == nil)
        #expect(source.begun == 1)
    }

    @Test(.rows("IC-12", "IC-16")) func `a storm of readers and writers leaves the count of bytes right`() async throws
    {
        let cache = try Self.cache(64_000, 32_000)
        let picture = try Pictures.buffer(20, 20)
        await withTaskGroup { group in
            for seed in 1...8 {
                group.addTask {
                    var chance = SeededGenerator(seed: UInt64(seed))
                    for _ in 0..<2000 {
                        let name = "\(chance.next(below: 90) + 10)"
                        switch chance.next(below: 4) {
                        case 0: _ = cache.image(for: name)
                        case 1: cache.removeImage(for: name)
                        default: cache.add(picture, for: name)
                        }
                    }
                }
            }
        }
        #expect(cache.memoryUsage == cache.count * picture.byteCount)
        #expect(cache.memoryUsage <= 64_000)
        cache.removeAll()
        #expect(cache.memoryUsage == 0)
    }

    /// Small pictures of which each keeps a great deal that is no pixel: a PNG of three kilobytes may bring a profile
    /// of three megabytes.
    private static let loads: [@Sendable (AutoPurgingImageCache, Int) throws -> Void] = [
        { cache, number in
            var picture = try Pictures.buffer(1, 1)
            picture.colorProfile = Bytes([UInt8](repeating: 7, count: 3 << 20))
            cache.add(StoredImage(picture), for: ImageKey(url: "http://a.test/\(number)"), since: 0)
        },
        { cache, number in
            let name = "\(number)" + String(repeating: "a", count: 1 << 20)
            cache.add(try Pictures.buffer(1, 1), for: name)
        },
        { cache, number in
            let long = String(repeating: "a", count: 1 << 20)
            cache.add(
                StoredImage(try Pictures.buffer(1, 1)), for: ImageKey(url: "\(number)", filter: long), since: 0)
        },
        { cache, number in
            let request = RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/")
            let answer = ResponseHead(status: 200, fields: ["ETag": String(repeating: "a", count: 1 << 20)])
            var provenance = Provenance()
            provenance.add(
                Provenance.Step(
                    CacheRequest(request), sent: request, answer, .init(nil, withJar: nil, isNamed: false), rules: "",
                    isConfirmed: true, isElsewhere: false, sentAt: 0, receivedAt: 0))
            let kept = try #require(provenance.kept(answer, at: 0, CacheRules { _, _ in nil }))
            cache.add(StoredImage(try Pictures.buffer(1, 1), of: kept), for: ImageKey(url: "\(number)"), since: 0)
        },
    ]

    @Test(arguments: loads.indices) func `everything that a picture keeps counts, and is bounded`(index: Int) throws {
        let cache = try Self.cache(10 << 20, 5 << 20)
        for number in 0..<30 { try Self.loads[index](cache, number) }
        #expect(cache.count <= 10)
        #expect(cache.count > 0)
        #expect(cache.memoryUsage <= 10 << 20)
    }

    @Test func `pictures of hardly any bytes do not pile up`() throws {
        let cache = try Self.cache(1 << 20, 1 << 19)
        for number in 0..<5000 { cache.add(try Pictures.buffer(1, 1), for: "\(number)") }
        #expect(cache.count <= (1 << 20) / AutoPurgingImageCache.overhead)
    }

    @Test func `a profile does not keep the file it was cut from`() throws {
        let cache = try Self.cache()
        var picture = try Pictures.buffer(1, 1)
        picture.colorProfile = Bytes([UInt8](repeating: 7, count: 1 << 20))[10..<20]
        cache.add(picture, for: "a")
        #expect(cache.image(for: "a")?.colorProfile?.storage.count == 10)
    }

    @Test func `no description of a key shows user info, queries and fields`() {
        let key = ImageKey(
            url: "https://me:secret@a.test/cat.jpg?token=secret", filter: "f", scale: 2)
        #expect("\(key)" == "https://a.test/cat.jpg (f) @2.0x")
        #expect(!String(reflecting: key).contains("secret"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test func `what was removed since it was asked for is not put back`() throws {
        let cache = try Self.cache()
        let (key, other) = (ImageKey(url: "http://a.test/1"), ImageKey(url: "http://a.test/2"))
        let picture = StoredImage(try Pictures.buffer(1, 1))
        let removing: [() -> Void] = [
            { cache.removeImage(for: key) }, { cache.invalidate("http://A.test:80/%31") }, { cache.removeAll() },
        ]
        for remove in removing {
            let before = (cache.removals(of: key.url), cache.removals(of: other.url))
            remove()
            #expect(!cache.add(picture, for: key, since: before.0))
            #expect(cache.images(for: key).isEmpty)
            #expect(cache.add(picture, for: key, since: cache.removals(of: key.url)))
        }
        let before = cache.removals(of: other.url)
        cache.invalidate(key.url)
        #expect(cache.add(picture, for: other, since: before))
    }
}
