import Dunlin
import DunlinCodecs
import DunlinImages
import LedgerRows
import Synchronization
import Testing

/// Gives images when the test says so.
private final class SlowSource: ImageSource {
    private struct State {
        var memory: [String: ImageBuffer] = [:]
        var waiting: [(request: String, id: Int, waiter: CheckedContinuation<ImageBuffer, any Error>)] = []
        var ended: Set<Int> = []
        var lastID = 0
    }

    private let state = Mutex(State())
    private let tell: AsyncStream<String>.Continuation
    /// "load a", "cancel a"
    let news: AsyncStream<String>

    init() { (news, tell) = AsyncStream.makeStream() }

    func request(forImageAt url: String) throws -> String {
        guard url.hasPrefix("https://") else { throw NetworkError(.invalidRequest, "no URL") }
        return url
    }

    func remember(_ url: String, _ image: ImageBuffer) { state.withLock { $0.memory[url] = image } }

    func imageInMemory(for request: String) async -> ImageBuffer? { state.withLock { $0.memory[request] } }

    func image(for request: String) async throws -> ImageBuffer {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isEnded = state.withLock { state in
                    if state.ended.contains(id) { return true }
                    state.waiting.append((request, id, waiter))
                    return false
                }
                if isEnded { waiter.resume(throwing: CancellationError()) }
                tell.yield("load \(request)")
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.ended.insert(id)
                return state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).waiter }
            }
            waiter?.resume(throwing: CancellationError())
            tell.yield("cancel \(request)")
        }
    }

    func answer(_ request: String, _ result: Result<ImageBuffer, any Error>) {
        let waiters = state.withLock { state in
            let waiters = state.waiting.filter { $0.request == request }.map(\.waiter)
            state.waiting.removeAll { $0.request == request }
            return waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}

/// Writes down what it is told to show.
private final class Frame: ImageTarget {
    private let tell: AsyncStream<String>.Continuation
    let news: AsyncStream<String>
    private let all = Mutex<[String]>([])

    init() { (news, tell) = AsyncStream.makeStream() }

    var shown: [String] { all.withLock { $0 } }

    func show(_ image: ImageBuffer?, in slot: ImageSlot) { note(Picture.name(image)) }
    func imageFailed(_ error: any Error, in slot: ImageSlot) { note("failed") }

    func note(_ text: String) {
        all.withLock { $0.append(text) }
        tell.yield(text)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ImageBindingTests {
    private let source = SlowSource()
    private let frame = Frame()
    private var binding: ImageBinding<SlowSource> { ImageBinding(frame, from: source) }

    private func expect(_ texts: String..., in news: AsyncStream<String>) async {
        for text in texts { #expect(await news.first { _ in true } == text) }
    }

    private func code(_ error: (any Error)?) -> NetworkError.Code? { (error as? NetworkError)?.code }

    @Test(.rows("UI-3", "UI-16"), arguments: [nil, "", "no URL"])
    func `without a URL the call throws and the placeholder is shown`(url: String?) async throws {
        let binding = binding
        let error = await #expect(throws: NetworkError.self) {
            try await binding.show(url, in: .background, placeholder: .image(Picture.of(9)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(frame.shown == ["9"])
        await #expect(throws: NetworkError.self) { try await binding.begin(url, placeholder: .clear) }
        #expect(frame.shown == ["9", "nothing"])
    }

    @Test(.rows("UI-6", "UI-10"))
    func `an image in memory is shown at once and without the placeholder`() async throws {
        source.remember("https://a", Picture.of(5))
        let image = try await binding.show("https://a", placeholder: .clear)
        #expect(Picture.name(image) == "5")
        #expect(frame.shown == ["5"])
    }

    @Test(.rows("UI-4", "UI-10"))
    func `two targets of the same image share a load, and each gets it`() async throws {
        let binding = binding
        async let first = binding.show("https://a", placeholder: .clear)
        await expect("load https://a", in: source.news)
        async let second = binding.show("https://a", placeholder: .image(Picture.of(9)))
        // The second has joined once its placeholder is there.
        await expect("nothing", "9", in: frame.news)
        // In memory by now: what was begun is shown all the same.
        source.remember("https://a", Picture.of(6))
        source.answer("https://a", .success(Picture.of(5)))
        #expect(try await [first, second].map(Picture.name) == ["5", "5"])
        #expect(frame.shown == ["nothing", "9", "5"])
    }

    @Test(.rows("UI-5", "UI-9"))
    func `a request for another image cancels the first, which is never shown`() async throws {
        let binding = binding
        let first = Task { try await binding.show("https://a") }
        await expect("load https://a", in: source.news)
        async let second = binding.show("https://b")
        let error = await #expect(throws: NetworkError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        await expect("cancel https://a", "load https://b", in: source.news)
        source.answer("https://b", .success(Picture.of(6)))
        _ = try await second
        #expect(frame.shown == ["6"])
    }

    @Test(.rows("UI-8"))
    func `a caller with a closure shows the image itself`() async throws {
        source.remember("https://a", Picture.of(5))
        try await binding.show("https://a") { image, target in
            (target as? Frame)?.note("mine: \(Picture.name(image))")
        }
        #expect(frame.shown == ["mine: 5"])
    }

    @Test(
        .rows("UI-7", "UI-11"),
        arguments: [
            (ImagePlaceholder.keepCurrent, [String]()), (.clear, ["nothing"]), (.image(Picture.of(9)), ["9"]),
        ])
    func `a failure keeps what the placeholder left`(placeholder: ImagePlaceholder, shown: [String]) async throws {
        let binding = binding
        let result = Task { try await binding.show("https://a", placeholder: placeholder) }
        await expect("load https://a", in: source.news)
        source.answer("https://a", .failure(Fault()))
        await #expect(throws: Fault.self) { try await result.value }
        #expect(frame.shown == shown)
    }

    @Test func `the target is told of a failure that nobody waits for`() async throws {
        let binding = binding
        try await binding.begin("https://a", placeholder: .clear)
        await expect("load https://a", in: source.news)
        #expect(await binding.request() == "https://a")
        source.answer("https://a", .failure(Fault()))
        await expect("nothing", "failed", in: frame.news)
        #expect(await binding.request() == nil)
    }

    @Test(.rows("UI-12", "UI-17"))
    func `cancelling a slot ends its load and no other`() async throws {
        let binding = binding
        await binding.cancel()
        let first = Task { try await binding.show("https://a") }
        await expect("load https://a", in: source.news)
        async let second = binding.show("https://b", in: .background)
        await expect("load https://b", in: source.news)
        await binding.cancel(.image)
        await binding.cancel(.image)
        await expect("cancel https://a", in: source.news)
        #expect(code(await #expect(throws: NetworkError.self) { try await first.value }) == .cancelled)
        source.answer("https://b", .success(Picture.of(6)))
        _ = try await second
        #expect(frame.shown == ["6"])
    }

    @Test func `the load ends when the task of the last who waits is cancelled`() async throws {
        let binding = binding
        let first = Task { try await binding.show("https://a", placeholder: .clear) }
        await expect("load https://a", in: source.news)
        let second = Task { try await binding.show("https://a", placeholder: .image(Picture.of(9))) }
        await expect("nothing", "9", in: frame.news)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(await binding.request() == "https://a")
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await expect("cancel https://a", in: source.news)
        #expect(await binding.request() == nil)
    }

    @Test(.rows("UI-13"))
    func `each binding has the source that it was given`() async throws {
        let (one, other) = (SlowSource(), SlowSource())
        one.remember("https://a", Picture.of(1))
        other.remember("https://a", Picture.of(2))
        try await ImageBinding(frame, from: one).show("https://a")
        try await ImageBinding(frame, from: other).show("https://a")
        #expect(frame.shown == ["1", "2"])
    }

    @Test(.rows("UI-14"))
    func `a target that goes is not kept, and takes what it loads with it`() async throws {
        final class Cell: ImageTarget {
            let binding = Mutex<ImageBinding<SlowSource>?>(nil)
            func show(_ image: ImageBuffer?, in slot: ImageSlot) {}
        }
        var cell: Cell? = Cell()
        weak let released = cell
        if let cell {
            let binding = ImageBinding(cell, from: source)
            cell.binding.withLock { $0 = binding }
            try await binding.begin("https://a")
        }
        await expect("load https://a", in: source.news)
        cell = nil
        #expect(released == nil)
        await expect("cancel https://a", in: source.news)
    }

    @Test(.rows("UI-14"))
    func `a binding that outlives its target delivers nothing and loads no more`() async throws {
        var frame: Frame? = Frame()
        weak let released = frame
        guard let binding = frame.map({ ImageBinding($0, from: source) }) else { return }
        let result = Task { try await binding.show("https://a") { _, _ in Issue.record("nobody is there") } }
        await expect("load https://a", in: source.news)
        frame = nil
        #expect(released == nil)
        source.answer("https://a", .success(Picture.of(5)))
        #expect(code(await #expect(throws: NetworkError.self) { try await result.value }) == .cancelled)
        let error = await #expect(throws: NetworkError.self) { try await binding.show("https://b") }
        #expect(error?.reason == "the image's target no longer exists")
        #expect(await binding.request() == nil)
    }
}
