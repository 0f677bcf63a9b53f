import Dunlin
import DunlinDisplay
import DunlinTesting
import LeakChecking
import LedgerRows
import Screens
import Synchronization
import Testing

/// Writes down what it is told to do.
private final class Target: ActivityTarget, RefreshTarget {
    private let state = Mutex<[Bool]>([])

    var told: [Bool] { state.withLock { $0 } }
    var isMoving: Bool? { told.last }

    func startAnimating() { state.withLock { $0.append(true) } }
    func stopAnimating() { state.withLock { $0.append(false) } }
    func beginRefreshing() { startAnimating() }
    func endRefreshing() { stopAnimating() }

    func wait(until isMoving: Bool) async throws {
        try await eventually(isMoving ? "it moves" : "it stands") { self.isMoving == isMoving }
    }
}

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Observer of a task` {
    enum Kind: CaseIterable {
        case activity
        case refresh
    }

    /// The two observers differ in what they call, and in nothing else.
    private enum Observer {
        case activity(ActivityObserver)
        case refresh(RefreshObserver)

        init(_ kind: Kind, _ target: Target) {
            switch kind {
            case .activity: self = .activity(ActivityObserver(target))
            case .refresh: self = .refresh(RefreshObserver(target))
            }
        }

        func follow(_ task: HTTPSession.RequestTask<Bytes>?) async {
            switch (self, task) {
            case (.activity(let observer), let task?): await observer.follow(task)
            case (.refresh(let observer), let task?): await observer.follow(task)
            case (.activity(let observer), nil): await observer.unfollow()
            case (.refresh(let observer), nil): await observer.unfollow()
            }
        }
    }

    private static func session() throws -> HTTPSession {
        let transport = MockTransport()
        transport.on(.get, "/").never().always()
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.useLoopOfTest()
        return try HTTPSession(configuration)
    }

    @Test(.rows("UI-41", "UI-43"), arguments: Kind.allCases)
    func `a target animates while its task runs, and not while it is suspended or over`(kind: Kind)
        async throws
    {
        let session = try Self.session()
        let (task, target) = (try session.task("/", as: .bytes), Target())
        let observer = Observer(kind, target)
        await observer.follow(task)
        #expect(target.told == [false])
        task.resume()
        try await target.wait(until: true)
        task.suspend()
        try await target.wait(until: false)
        task.resume()
        try await target.wait(until: true)
        task.cancel()
        try await target.wait(until: false)
        _ = await task.result
        #expect(target.told == [false, true, false, true, false])
    }

    @Test(.rows("UI-42"), arguments: Kind.allCases)
    func `a target is told the task's state at once, and does not animate for one that is over`(
        kind: Kind
    )
        async throws
    {
        let session = try Self.session()
        let (task, target) = (try session.task("/", as: .bytes), Target())
        let observer = Observer(kind, target)
        task.resume()
        await observer.follow(task)
        #expect(target.told == [true])
        task.cancel()
        _ = await task.result
        try await target.wait(until: false)
        target.startAnimating()
        await observer.follow(task)
        #expect(target.isMoving == false)
    }

    @Test(.rows("UI-40", "UI-45"), arguments: Kind.allCases)
    func `an observer follows one task, and leaves its target unchanged when it follows none`(
        kind: Kind
    ) async throws {
        let session = try Self.session()
        let (first, second) = (try session.task("/", as: .bytes), try session.task("/", as: .bytes))
        let target = Target()
        let observer = Observer(kind, target)
        first.resume()
        await observer.follow(first)
        await observer.follow(second)
        #expect(target.told == [true, false])
        first.suspend()
        first.resume()
        second.resume()
        try await target.wait(until: true)
        #expect(target.told == [true, false, true])
        await observer.follow(nil)
        second.suspend()
        first.cancel()
        _ = await first.result
        #expect(target.told == [true, false, true])
        second.cancel()
        _ = await second.result
    }

    @Test(.rows("UI-44"), arguments: Kind.allCases) func `an observer keeps neither its target nor its task alive`(
        kind: Kind
    ) async throws {
        let session = try Self.session()
        var target: Target? = Target()
        weak let gone = target
        let observer = Observer(kind, try #require(target))
        weak var held: HTTPSession.RequestTask<Bytes>?
        do {
            let task = try session.task("/", as: .bytes)
            held = task
            await observer.follow(task)
        }
        #expect(held == nil)
        let task = try session.task("/", as: .bytes)
        await observer.follow(task)
        target = nil
        #expect(gone == nil)
        task.resume()
        task.cancel()
        _ = await task.result
    }

    @Test(.rows("AP-8")) func `a spinner turns while its task runs, and nothing of it is left afterwards`() async throws
    {
        let session = try Self.session()
        let (clock, paper) = (ManualClock(), Paper(columns: 40))
        let display = TerminalDisplay(on: paper, style: .init(hasColour: false, hasUnicode: false), clock: clock)
        let (task, spinner) = (try session.task("/", as: .bytes), Spinner("asking", on: display))
        let observer = ActivityObserver(spinner)
        await observer.follow(task)
        task.resume()
        try await clock.skippingWaits {
            for turn in ["/ asking", "| asking"] { try await paper.wait { $0 == [turn] } }
            task.cancel()
            try await paper.wait { $0.isEmpty }
        }
        _ = await task.result
        await display.finish()
        #expect(paper.screen?.isAtStartOfEmptyLine == true)
    }
}
