import Dunlin
import DunlinTesting
import Testing

@testable import DunlinSession

/// What a queue must look like from outside, kept by hand while a machine is driven at random: each rule said in the
/// plainest way, looking at everything each time.
struct QueueModel {
    struct Waiter {
        var number: UInt64
        var host: String
        var priority: HTTP.Priority
    }

    let limits: HTTPSession.QueueLimits
    var machine: QueueMachine<UInt64>
    /// Hosts of those on the way, one for each.
    var running: [String] = []
    var waiting: [Waiter] = []
    /// Those who stepped aside.
    var aside: [Waiter] = []
    private var lastNumber: UInt64?

    init(_ limits: HTTPSession.QueueLimits) {
        self.limits = limits
        machine = QueueMachine(limits)
    }

    private func mayGo(_ host: String) -> Bool {
        running.count < limits.running ?? .max
            && running.count { $0 == host } < limits.runningPerOrigin ?? .max
    }

    /// Who should go next.
    private var next: Waiter? {
        waiting.filter { mayGo($0.host) }.min {
            $0.priority == $1.priority ? $0.number < $1.number : $0.priority > $1.priority
        }
    }

    mutating func enter(_ host: String, _ priority: HTTP.Priority) {
        let isFree = mayGo(host)
        switch machine.enter(host, priority, (lastNumber ?? .max) &+ 1) {
        case .go:
            #expect(isFree)
            running.append(host)
        case .wait(let number):
            #expect(!isFree && waiting.count < limits.maximumWaiting && number == (lastNumber ?? .max) &+ 1)
            lastNumber = number
            waiting.append(Waiter(number: number, host: host, priority: priority))
        case .refuse:
            #expect(!isFree && waiting.count >= limits.maximumWaiting)
        }
    }

    mutating func comeBack(_ index: Int) {
        let waiter = aside.remove(at: index)
        let isFree = mayGo(waiter.host)
        switch machine.enter(waiter.host, waiter.priority, as: waiter.number, waiter.number) {
        case .go:
            #expect(isFree)
            running.append(waiter.host)
        case .wait(let number):
            #expect(!isFree && number == waiter.number)
            waiting.append(waiter)
        case .refuse: Issue.record("one that came back was turned away")
        }
    }

    mutating func leave(_ index: Int) {
        let host = running.remove(at: index)
        let expected = next
        let served = machine.leave(host)
        #expect(served?.waiter == expected?.number && served?.host == expected.map { line(of: $0.host) })
        guard let expected else { return }
        waiting.removeAll { $0.number == expected.number }
        running.append(expected.host)
    }

    /// Without a limit for hosts all stand in one line.
    private func line(of host: String) -> String { limits.runningPerOrigin == nil ? "" : host }

    mutating func stepAside(_ number: UInt64, _ host: String) {
        let index = waiting.firstIndex { $0.number == number }
        #expect(machine.giveUp(number, host) == (index == nil ? nil : number))
        if let index { aside.append(waiting.remove(at: index)) }
    }

    mutating func move(_ number: UInt64, _ host: String, to priority: HTTP.Priority) {
        machine.move(number, host, to: priority)
        if let index = waiting.firstIndex(where: { $0.number == number }) { waiting[index].priority = priority }
    }

    func check() {
        #expect([machine.running, machine.waiting] == [running.count, waiting.count])
        #expect(running.count <= limits.running ?? .max)
        for host in Set(running) { #expect(running.count { $0 == host } <= limits.runningPerOrigin ?? .max) }
        #expect(next == nil, "somebody waits while there is room")
    }
}

@Suite struct `Queue machine at random` {
    private static let walks: [(Int?, Int?, Int, Int, UInt64)] = [
        (1, nil, .max, 1, 1), (3, nil, 9, 4, 2), (nil, 1, .max, 5, 3), (nil, 2, 6, 3, 4), (4, 2, .max, 6, 5),
        (7, 1, 20, 9, 6), (1, 1, 2, 2, 7), (5, 9, .max, 3, 8), (12, 3, .max, 40, 9),
    ]

    @Test(arguments: walks)
    func `the queue keeps its rules over thousands of random steps`(
        running: Int?, perHost: Int?, waiting: Int, hosts: Int, seed: UInt64
    ) async {
        var random = SeededGenerator(seed: seed)
        var model = QueueModel(.init(running: running, runningPerOrigin: perHost, maximumWaiting: waiting))
        for round in 0..<3000 {
            // Others wait for the thread, with limits.
            if round.isMultiple(of: 50) { await Task.yield() }
            step(&model, "h\(Int.random(in: 0..<hosts, using: &random))", &random)
            model.check()
        }
        while !model.running.isEmpty { model.leave(0) }
        #expect(model.waiting.isEmpty && model.machine.waiting == 0)
    }

    private func step(_ model: inout QueueModel, _ host: String, _ random: inout SeededGenerator) {
        let priority = HTTP.Priority(Int.random(in: -1...1, using: &random))
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<6: model.enter(host, priority)
        case 6..<11:
            if let index = model.running.indices.randomElement(using: &random) { model.leave(index) }
        case 11..<13:
            if let waiter = model.waiting.randomElement(using: &random) { model.stepAside(waiter.number, waiter.host) }
        case 13:
            if let index = model.aside.indices.randomElement(using: &random) { model.comeBack(index) }
        case 14:
            // Now and then one that does not wait any more.
            let number = UInt64.random(in: 0..<2000, using: &random)
            let known = model.waiting.first { $0.number == number }
            model.move(number, known?.host ?? host, to: priority)
            if known == nil { model.stepAside(number, host) }
        default:
            if let waiter = model.waiting.randomElement(using: &random) {
                model.move(waiter.number, waiter.host, to: priority)
            }
        }
    }
}
