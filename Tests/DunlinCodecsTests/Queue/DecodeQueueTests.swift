import DunlinTypes
import Synchronization
import Testing

@testable import DunlinCodecs

@Suite(.timeLimit(.minutes(10))) struct `The queue of decodes` {
    /// What is running, and the most that ever was.
    private final class Counter: Sendable {
        let state = Mutex((running: 0, bytes: 0, mostRunning: 0, mostBytes: 0, ended: 0))

        func begin(_ bytes: Int) {
            state.withLock {
                $0.running += 1
                $0.bytes += bytes
                $0.mostRunning = max($0.mostRunning, $0.running)
                $0.mostBytes = max($0.mostBytes, $0.bytes)
            }
        }

        func end(_ bytes: Int) {
            state.withLock {
                $0.running -= 1
                $0.bytes -= bytes
                $0.ended += 1
            }
        }
    }

    @Test func `under random cancels the limits hold, and every decode ends`() async throws {
        let queue = DecodeQueue(decodes: 3, bytes: 100)
        let counter = Counter()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<1000 {
            let bytes = number * 37 % 60
            tasks.append(
                Task.detached {
                    try await queue.admit(bytes) {
                        counter.begin(bytes)
                        for _ in 0..<number % 5 { await Task.yield() }
                        counter.end(bytes)
                    }
                })
            if number % 3 == 0 { tasks[number * 31 % tasks.count].cancel() }
            if number % 7 == 0 { await Task.yield() }
        }
        var (done, cancelled) = (0, 0)
        for task in tasks {
            switch await task.result {
            case .success: done += 1
            case .failure(let error):
                #expect(error is CancellationError)
                cancelled += 1
            }
        }
        let state = counter.state.withLock { $0 }
        #expect(done + cancelled == 1000 && state.ended >= done && state.running == 0)
        #expect(state.mostRunning <= 3 && state.mostBytes <= 100)
        #expect(queue.isIdle && queue.running == 0 && queue.waiting == 0 && queue.bytes == 0)
    }

    @Test func `a decode that was cancelled while it waits ends, and leaves its place`() async throws {
        let queue = DecodeQueue(decodes: 1, bytes: 100)
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await queue.admit(1) {
                enter.finish()
                for await _ in released {}
            }
        }
        for await _ in entered {}
        let bytes = try Pictures.bytes("png/rgb.png")
        let second = Task { try await ImageDecoder(queue: queue).decode(bytes) }
        while queue.waiting == 0 { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(queue.waiting == 0 && queue.running == 1)
        release.finish()
        try await first.value
        #expect(queue.isIdle)
    }

    @Test func `a cancelled task decodes nothing, and one that is cancelled on the way stops`() async throws {
        let queue = DecodeQueue(decodes: 4, bytes: 1 << 30)
        let decoder = ImageDecoder(queue: queue)
        let pixels = [UInt8](repeating: 200, count: 3000 * 2000 * 4)
        let picture = try #require(ImageBuffer(width: 3000, height: 2000, pixels: pixels, isOpaque: true))
        for bytes in [try await ImageEncoder().png(picture), try await ImageEncoder().jpeg(picture)] {
            let task = Task { try await decoder.decode(bytes) }
            while queue.running == 0 { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(queue.isIdle)
        let task = Task { try await picture.resized(to: ImageSize(width: 2000, height: 2000)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ["gif/disposals.gif", "webp/animated.webp"])
    func `frames end when their task is cancelled`(path: String) async throws {
        let queue = DecodeQueue(decodes: 1, bytes: 1 << 30)
        let frames = ImageDecoder(queue: queue).frames(of: try Pictures.bytes(path))
        let task = Task {
            var count = 0
            for try await _ in frames {
                count += 1
                if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.isIdle)
    }

    @Test func `an error releases the memory that its decode reserved`() async throws {
        let queue = DecodeQueue(decodes: 1, bytes: 1)
        let bytes = try Pictures.bytes("png/rgb.png")
        for count in [bytes.count, 100, bytes.count] {
            _ = try? await ImageDecoder(queue: queue).decode(bytes[0..<count])
            #expect(queue.isIdle)
        }
    }
}
