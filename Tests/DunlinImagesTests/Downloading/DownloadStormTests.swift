import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@testable import DunlinImages

@Suite struct `A storm of downloads` {
    /// Counts the exchanges that are on their way over another transport, and how many were at most.
    private final class Counted: Transport {
        private let transport = MockTransport()
        private let state = Mutex((now: 0, most: 0, all: 0))

        init(_ respond: @escaping MockTransport.Responder) {
            transport.otherwise(respond)
        }

        var counts: (now: Int, most: Int, all: Int) { state.withLock(\.self) }

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            state.withLock { state in
                (state.now, state.all) = (state.now + 1, state.all + 1)
                state.most = max(state.most, state.now)
            }
            defer { state.withLock { $0.now -= 1 } }
            for _ in 0..<4 { await Task.yield() }
            return try await transport.exchange(request)
        }
    }

    private enum Ending: Hashable {
        case image, cancelled, cancellationError, other
    }

    @Test(.rows("ID-14", "ID-18", "ID-23"), arguments: [1, 4])
    func `ten thousand downloads with cancels, merges and changes of priority are each answered once`(
        maximum: Int
    ) async throws {
        let png = try await Pictures.png()
        let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\""]
        let transport = Counted { request in
            // Every other picture comes in pieces, which may be left midway.
            if request.target.utf8.count % 2 == 0 { return .respond(fields: fields, body: png) }
            return .stream([png[0..<20], png[20..<png.count]], fields: fields, length: png.count)
        }
        let gallery = try Gallery({ $0.maximumActive = maximum }, session: { $0.transport = transport })
        var endings: [Ending: Int] = [:]
        for round in 0..<10 {
            let round = try await Self.round(gallery.downloader, seed: UInt64(round), count: 1000)
            endings.merge(round, uniquingKeysWith: +)
        }
        #expect(endings.values.reduce(0, +) == 10_000)
        #expect(endings[.other] == nil)
        for ending in [Ending.image, .cancelled, .cancellationError] { #expect(endings[ending, default: 0] > 500) }
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
        #expect(await gallery.session.tasks.count == 0)
        let count = gallery.cache.count
        #expect(count > 0 && gallery.cache.memoryUsage >= count * 48)
        for number in 0..<60 { gallery.cache.invalidate("http://a.test/\(number)") }
        #expect(gallery.cache.memoryUsage == 0 && gallery.cache.count == 0)
        let counts = transport.counts
        #expect(counts.most <= maximum)
        #expect(counts.now == 0)
        #expect(counts.all > 100)
    }

    /// Asks for so many pictures of a few URLs, most of them at once, and counts how each ended.
    private static func round(_ downloader: ImageDownloader, seed: UInt64, count: Int) async throws -> [Ending: Int] {
        try await withThrowingTaskGroup(of: Ending.self) { group in
            for number in 0..<count {
                var chance = SeededGenerator(seed: seed << 20 | UInt64(number))
                var request = ImageDownloader.Request(.url("http://a.test/\(chance.next(below: 60))"))
                request.priority = HTTP.Priority(chance.next(in: -2...2))
                request.memory = chance.next(below: 3) == 0 ? .fresh : .reload
                if chance.next(below: 3) == 0 { request.filters = [.roundCorners(radius: 1)] }
                let choice = chance.next(below: 6)
                group.addTask { [request] in await one(downloader, request, choice) }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    private static func one(_ downloader: ImageDownloader, _ request: ImageDownloader.Request, _ choice: Int) async
        -> Ending
    {
        do {
            switch choice {
            case 0:
                let task = Task { try await downloader.image(for: request) }
                await Task.yield()
                task.cancel()
                _ = try await task.value
            case 1:
                let receipt = try await downloader.download(request)
                await receipt.cancel()
                _ = try await receipt.image
            case 2:
                let receipt = try await downloader.download(request)
                async let image = receipt.image
                await receipt.setPriority(.high)
                await downloader.cancel(receipt.id)
                _ = try await image
            case 3:
                let receipt = try await downloader.download(request)
                await receipt.setPriority(.low)
                _ = try await receipt.image
            default: _ = try await downloader.image(for: request)
            }
            return .image
        } catch let error as NetworkError {
            return error.code == .cancelled ? .cancelled : .other
        } catch {
            return error is CancellationError ? .cancellationError : .other
        }
    }
}
