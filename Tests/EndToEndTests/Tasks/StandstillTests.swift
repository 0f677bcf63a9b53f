import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// How requests ended, as their hooks and listeners are told: by label, whether well.
private final class Ends: Sendable {
    private let all = Mutex<[String: [Bool]]>([:])

    func note(_ completion: HTTPSession.Completion) {
        guard let label = completion.task.label else { return }
        all.withLock { $0[label, default: []].append(completion.error == nil) }
    }

    subscript(_ number: Int) -> [Bool] { all.withLock { $0["\(number)"] ?? [] } }
}

/// When to cancel, so that it comes now just before the end of the request and now just after: later where it came too
/// early, and earlier where it came too late.
private struct Aim {
    /// After the wait was ended.
    private var delay = Duration.zero
    /// On a busy machine it may be in vain, and others need the processor.
    private static let longest = Duration.milliseconds(5)

    mutating func note(_ isWell: Bool) {
        delay = isWell ? delay * 3 / 5 : min(delay * 5 / 4 + .microseconds(20), Self.longest)
    }

    /// Computes meanwhile: whoever sleeps is woken late.
    func wait() {
        let end = ContinuousClock.now + delay
        while .now < end {}
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A cancel that meets the end of a wait` {
    private typealias Means = Standstill.Means

    private enum Order: Sendable {
        case before
        case after
        case together
    }

    @Test(arguments: Standstill.all)
    func `a cancel before the end of a wait counts, a serializer's apart, and the request ends once`(
        standstill: Standstill, means: Standstill.Means
    ) async throws {
        try await Self.play(standstill, means, .before, times: 5)
    }

    @Test(arguments: Standstill.all)
    func `a cancel after the end of a wait may count, and the request ends once`(
        standstill: Standstill, means: Standstill.Means
    ) async throws {
        try await Self.play(standstill, means, .after, times: 10)
    }

    @Test(arguments: Standstill.all)
    func `a cancel together with the end of a wait counts or not, and the request ends once`(
        standstill: Standstill, means: Standstill.Means
    ) async throws {
        try await Self.play(standstill, means, .together, times: 50)
    }

    /// That nothing is left is for the stage to see.
    private static func play(
        _ standstill: Standstill, _ means: Means, _ order: Order, times: Int
    ) async throws {
        let scene = try StandstillScene(standstill, means)
        let hooked = Ends()
        try await Stage.with(clock: scene.clockIfNeeded, tolerating: true) {
            scene.configure(&$0)
            $0.hooks.completed = { hooked.note($0) }
        } _: { (stage: Stage) async throws in
            let events = stage.session.events(bufferingNewest: 10_000)
            var (results, aim) = ([Bool](), Aim())
            for number in 0..<times {
                let request = try await scene.begin(number, on: stage)
                try await end(request, order, aim)
                let isWell = check(await request.end(), standstill, means, order)
                aim.note(isWell)
                results.append(isWell)
            }
            try await stage.expectHealthy()
            await stage.session.shutdown()
            let told = Ends()
            for await case .completed(let completion) in events { told.note(completion) }
            for (number, isWell) in results.enumerated() {
                #expect(hooked[number] == [isWell] && told[number] == [isWell])
            }
            if standstill == .download {
                let whole = results.indices.filter { results[$0] }
                #expect(try scene.files.sorted() == whole.map(String.init).sorted())
            }
        }
    }

    private static func end(_ request: StandingRequest, _ order: Order, _ aim: Aim) async throws {
        switch order {
        case .before:
            request.cancel()
            try await request.release()
        case .after:
            try await request.release()
            request.cancel()
        case .together:
            async let cancel: Void = {
                aim.wait()
                request.cancel()
            }()
            try await request.release()
            await cancel
        }
    }

    /// Whether it ended well.
    private static func check(
        _ result: Result<Void, any Error>, _ standstill: Standstill, _ means: Means, _ order: Order
    ) -> Bool {
        switch result {
        case .success:
            // A body that is here may as well be made a value of.
            #expect(order != .before || standstill == .serializer)
            return true
        case .failure(let error):
            #expect(means == .task ? error is CancellationError : (error as? NetworkError)?.code == .cancelled)
            return false
        }
    }
}
