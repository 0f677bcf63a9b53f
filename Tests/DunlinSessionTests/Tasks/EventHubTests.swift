import Dunlin
import DunlinCurl
import LedgerRows
import Testing

@testable import DunlinReactor
@testable import DunlinSession
@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Events of a session` {
    private static func snapshot(_ number: Int) -> HTTPSession.TaskSnapshot {
        HTTPSession.TaskSnapshot(
            id: HTTPSession.TaskID.next(), kind: .data, method: .get, targetTemplate: "\(number)", label: nil, tags: [],
            priority: .normal,
            state: .waiting, age: .zero)
    }

    private static func numbers(_ stream: EventHub.Stream) async -> [Int] {
        var numbers: [Int] = []
        for await event in stream {
            if case .resumed(let task) = event, let number = Int(task.targetTemplate) { numbers.append(number) }
        }
        return numbers
    }

    @Test(.rows("G-3", "NO-15")) func `events come to every observer in one order, from when it joined`() async {
        let hub = EventHub(always: false)
        let first = hub.observe(bufferingNewest: 1000)
        hub.tell(.resumed(Self.snapshot(0)))
        let second = hub.observe(bufferingNewest: 1000)
        await withTaskGroup(of: Void.self) { group in
            for number in 1...200 {
                group.addTask { hub.tell(.resumed(Self.snapshot(number))) }
            }
        }
        hub.tell(hub.noteEnd())
        let (all, later) = await (Self.numbers(first), Self.numbers(second))
        #expect(all.first == 0)
        #expect(all.sorted() == Array(0...200))
        #expect(Array(all.dropFirst()) == later)
    }

    @Test func `an observer that does not keep up loses the oldest events`() async {
        let hub = EventHub(always: false)
        let stream = hub.observe(bufferingNewest: 3)
        for number in 0..<10 { hub.tell(.resumed(Self.snapshot(number))) }
        hub.tell(hub.noteEnd())
        #expect(await Self.numbers(stream) == [7, 8, 9])
    }

    @Test(.rows("SM-96")) func `no event is made while there is no observer`() async {
        let hub = EventHub(always: false)
        func told() -> HTTPSession.Event {
            Issue.record("nobody wants to know")
            return .shutDown
        }
        #expect(!hub.hasObservers)
        hub.tell(told())
        do {
            let stream = hub.observe(bufferingNewest: 1)
            #expect(hub.hasObservers)
            _ = stream
        }
        #expect(!hub.hasObservers)
        hub.tell(told())
        #expect(EventHub(always: true).hasObservers)
    }

    /// What comes of a change may be told by another thread before the change has returned.
    @Test(arguments: [true, false]) func `events that a change causes come after it`(isNew: Bool) async throws {
        let hub = EventHub(always: false)
        let stream = hub.observe(bufferingNewest: 9)
        let observers = RequestObservers(
            [], hub, TransferControl(on: try ReactorGroup.shared.reactors()[0]),
            .init(
                head: RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/"),
                body: .none), CurlSettings())
        let changed = observers.reporting(.resumed(Self.snapshot(1)), tell: {}) { note in
            if isNew { note() }
            hub.tell(.resumed(Self.snapshot(2)))
            return isNew
        }
        hub.tell(hub.noteEnd())
        #expect(changed == isNew)
        #expect(await Self.numbers(stream) == (isNew ? [1, 2] : [2]))
    }

    @Test func `events can be observed again once they have ended`() async {
        let hub = EventHub(always: false)
        let before = hub.observe(bufferingNewest: 9)
        hub.tell(hub.noteEnd())
        let after = hub.observe(bufferingNewest: 9)
        hub.tell(.resumed(Self.snapshot(1)))
        hub.tell(hub.noteEnd())
        let (none, one) = await (Self.numbers(before), Self.numbers(after))
        #expect(none.isEmpty)
        #expect(one == [1])
    }

    @Test func `a noted end ends no observer until it is told, and none that joined in between`() async {
        let hub = EventHub(always: false)
        let before = hub.observe(bufferingNewest: 9)
        let trace = hub.trace(TraceReader(wantedBytes: nil, capacity: 10))
        let ending = hub.noteEnd(after: .resumed(Self.snapshot(1)))
        #expect(hub.tracers.isEmpty)
        let after = hub.observe(bufferingNewest: 9)
        hub.tell(ending)
        hub.tell(.resumed(Self.snapshot(2)))
        hub.tell(hub.noteEnd())
        let (one, two) = await (Self.numbers(before), Self.numbers(after))
        #expect(one == [1] && two == [2])
        for await _ in trace { Issue.record("nothing was told") }
    }
}
