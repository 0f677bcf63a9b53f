import Dunlin
import DunlinRules
import DunlinTesting
import DunlinTypes

@testable import DunlinImages
@testable import DunlinSession
@testable import DunlinTransport

/// Sessions and image downloaders whose code asks for each other at random, with the machines of Dunlin and without
/// anything else of it: what is asked for takes turns, slots and connections, is shared, and has tokens refreshed.
///
/// One task runs at a time, and chance says which of those that could go on does. A world hangs when none can.
actor OrderWorld {
    /// What a task waits for.
    final class Signal: Sendable {
        fileprivate let number: UInt64

        fileprivate init(_ number: UInt64) {
            self.number = number
        }
    }

    private struct Connection: PoolMember {
        let id: UInt64
        let opened = HTTP.Instant(nanoseconds: 0)
        let uses = 1
        let idleLimit = Int64.max
        let tlsGeneration: UInt64 = 0
        let proxyTLSGeneration = UInt64.max
        let loop: ObjectIdentifier
    }

    private struct Site {
        final class Name {}

        let name = Name()
        let owner = Owner.session()
        var queue: QueueMachine<Signal>
        var pool: PoolMachine<Connection, Signal>
        var shared = CoalescingMachine<Int, Signal>()
        var refresh = RefreshMachine<Int, Signal>(at: HTTP.Instant(nanoseconds: 0))
        var pictures: ImageDownloadMachine<Int>
        /// What begins with a download, and what its waiters wait for.
        var loads: [UInt64: (begin: @Sendable (OrderWorld) async -> Void, end: Signal)] = [:]

        init(_ dice: inout SeededGenerator) {
            let running = [1, 1, 2, 99][dice.next(below: 4)]
            queue = QueueMachine(HTTPSession.QueueLimits(running: running))
            pool = PoolMachine(limits: .init(connectionsPerOrigin: [1, 1, 2][dice.next(below: 3)]))
            pictures = ImageDownloadMachine(maximum: [1, 1, 2, 4][dice.next(below: 4)], order: .firstInFirstOut)
        }
    }

    private static let origin = HTTP.Origin(scheme: .http, host: "a.test")
    private static let now = HTTP.Instant(nanoseconds: 0)
    private static let noLimit = HTTPSession.WaitLimit(total: nil)

    private var dice: SeededGenerator
    private var sites: [Site] = []
    private let most: Int
    private(set) var asked = 0
    private(set) var refused = 0
    private var last: UInt64 = 0
    private var given: Set<UInt64> = []
    private var waiting: [UInt64: [CheckedContinuation<Void, Never>]] = [:]
    /// The tasks that could go on, and how many there are at all and how many of them run.
    private var ready: [CheckedContinuation<Void, Never>] = []
    private var living = 0
    private var running = 0
    private var idle: CheckedContinuation<Void, Never>?

    init(seed: UInt64, askers: Int) {
        dice = SeededGenerator(seed: seed)
        most = 40 * askers
        for _ in 0...dice.next(below: 4) { sites.append(Site(&dice)) }
    }

    /// Returns whether everybody who asked was answered.
    func run(askers: Int) async -> Bool {
        for _ in 0..<askers {
            let depth = dice.next(below: 4)
            spawn { await $0.ask(depth) }
        }
        while living > 0 {
            if running > 0 { await withCheckedContinuation { idle = $0 } }
            guard let index = ready.indices.randomElement(using: &dice) else { return living == 0 }
            running += 1
            ready.swapAt(index, ready.count - 1)
            ready.removeLast().resume()
        }
        return true
    }

    // MARK: - Tasks

    /// Begins a task within everything that the caller is within.
    @discardableResult
    private func spawn(_ work: @escaping @Sendable (OrderWorld) async -> Void) -> Signal {
        let (end, around) = (signal(), Enclosure.surroundings)
        (living, running) = (living + 1, running + 1)
        Task.detached { await around.within { await self.live(work, end) } }
        return end
    }

    private func live(_ work: @Sendable (OrderWorld) async -> Void, _ end: Signal) async {
        await work(self)
        give(end)
        living -= 1
        stop()
    }

    private func stop() {
        running -= 1
        guard running == 0 else { return }
        idle?.resume()
        idle = nil
    }

    private func pause() async {
        await withCheckedContinuation {
            ready.append($0)
            stop()
        }
    }

    private func wait(for signal: Signal) async {
        if given.contains(signal.number) { return await pause() }
        await withCheckedContinuation {
            waiting[signal.number, default: []].append($0)
            stop()
        }
    }

    private func signal() -> Signal {
        last += 1
        return Signal(last)
    }

    private func give(_ signal: Signal) {
        given.insert(signal.number)
        ready += waiting.removeValue(forKey: signal.number) ?? []
    }

    // MARK: - Asking

    private func ask(_ depth: Int) async {
        let index = dice.next(below: sites.count)
        if dice.next(below: 10) < 3 { await picture(index, depth) } else { await request(index, depth) }
    }

    /// What the code of something does, as deep as this.
    private func code(_ depth: Int) async {
        guard depth > 0, asked < most else { return }
        let children = (0..<dice.next(below: 4)).map { _ in spawn { await $0.ask(depth - 1) } }
        for child in children { await wait(for: child) }
    }

    private func request(_ index: Int, _ depth: Int) async {
        asked += 1
        let id = HTTPSession.TaskID.next()
        let owner = sites[index].owner
        let mayWait = owner.mayBeAwaited(by: id)
        if mayWait {
            let turn = signal()
            if case .wait = sites[index].queue.enter("a.test", .normal, turn) { await wait(for: turn) }
        }
        await Enclosure.enter(.request(id), of: owner) {
            let (key, outcome) = (dice.next(below: 2), signal())
            if owner.mayBeAwaited(by: id), dice.next(below: 10) < 7 {
                if let other = sites[index].shared.enter(key, outcome) {
                    await wait(for: other)
                    return sites[index].shared.leave(key, other)
                }
            }
            if dice.next(below: 10) < 3 { await token(index) }
            await exchange(index, id, depth)
            sites[index].shared.end(key, outcome)
            give(outcome)
        }
        if mayWait, let next = sites[index].queue.leave("a.test") { give(next.waiter) }
    }

    /// A token has expired, and a new one is needed.
    private func token(_ index: Int) async {
        let subject = Enclosure.Subject.refresh(of: ObjectIdentifier(sites[index].name))
        if Enclosure.contains(subject) { return }
        if let held = sites[index].refresh.held {
            sites[index].refresh.accepted(held.number)
            _ = sites[index].refresh.refused(held.number, at: Self.now)
        }
        let (waiter, owner) = (signal(), sites[index].owner)
        let answer = sites[index].refresh.ask(
            waiter, mayWait: owner.mayBeAwaitedForAnswers, at: Self.now)
        guard case .wait(_, _, let begins) = answer else { return }
        if begins != nil {
            spawn { world in
                await Enclosure.enter(subject, of: owner) { await world.refresh(index) }
            }
        }
        await wait(for: waiter)
    }

    private func refresh(_ index: Int) async {
        for _ in 0...dice.next(below: 2) { await ask(0) }
        let waiters = sites[index].refresh.refreshed(0, lifetime: nil, chance: 0, at: Self.now).waiters
        for waiter in waiters { give(waiter) }
    }

    private func exchange(_ index: Int, _ id: HTTPSession.TaskID, _ depth: Int) async {
        let (loop, waiter) = (ObjectIdentifier(sites[index].name), signal())
        let owner = sites[index].owner
        let action = sites[index].pool.lease(
            Self.origin, on: loop, at: Self.now, .normal, standing: { owner.mayBeAwaited(by: id) ? .waits : .exceeds },
            waiter: { waiter })
        var isBeyond = false
        switch action {
        case .use, .open, .retire, .refuse: break
        case .wait: await wait(for: waiter)
        case .openBeyond: isBeyond = true
        case .turnAway: return refused += 1
        }
        await pause()
        await code(depth)
        if isBeyond {
            _ = sites[index].pool.goneBeyond(Self.origin)
            return
        }
        last += 1
        switch sites[index].pool.giveBack(Connection(id: last, loop: loop), to: Self.origin, at: Self.now) {
        case .keep: break
        case .handOver(let waiter), .replace(let waiter, _): give(waiter)
        case .close: if let next = sites[index].pool.gone(Self.origin) { give(next.0) }
        }
    }

    private func picture(_ index: Int, _ depth: Int) async {
        asked += 1
        last += 1
        let (key, owner, waiter) = (dice.next(below: 2), sites[index].owner.ofDownloader, last)
        let mayWait = owner.mayBeAwaited()
        if mayWait, let id = sites[index].pictures.join(waiter, key, 0, Self.noLimit, at: Self.now) {
            guard let load = sites[index].loads[id] else { return }
            return await wait(for: load.end)
        }
        let (around, end) = (Enclosure.surroundings, signal())
        let (id, actions) = sites[index].pictures.begin(waiter, key, 0, Self.noLimit, isAlone: !mayWait)
        let subject = Enclosure.Subject.picture(of: ObjectIdentifier(sites[index].name), id)
        sites[index].loads[id] = (
            { world in
                await around.within {
                    await Enclosure.enter(subject, of: owner) { await world.load(index, depth) }
                    await world.end(id, index)
                }
            }, end
        )
        perform(actions, index)
        await wait(for: end)
    }

    private func load(_ index: Int, _ depth: Int) async {
        await request(index, 0)
        await code(depth)
    }

    private func end(_ id: UInt64, _ index: Int) {
        let load = sites[index].loads.removeValue(forKey: id)
        perform(sites[index].pictures.end(id).actions, index)
        if let load { give(load.end) }
    }

    private func perform(_ actions: [ImageDownloadMachine<Int>.Action], _ index: Int) {
        for case .start(let id) in actions {
            if let load = sites[index].loads[id] { spawn(load.begin) }
        }
    }
}
