import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite struct `Resolver machine` {
    /// The machine, and what it was told to do.
    private final class Driver {
        private var machine: ResolverMachine<Int>

        init(threads: Int, backlog: Int) {
            machine = ResolverMachine(threads: threads, backlog: backlog)
        }

        func ask(_ name: String, _ waiter: Int) -> ResolverMachine<Int>.Action {
            machine.ask(name, UInt64(waiter), waiter)
        }
        func next() -> String? { machine.next() }
        func answered(_ name: String) -> [Int] { machine.answered(name) }
        func threadFailed() -> [Int] { machine.threadFailed() }
        func forget(_ name: String, _ waiter: Int) { machine.forget(name, UInt64(waiter)) }
    }

    @Test func `the resolver machine looks a name up once for all who ask meanwhile`() {
        let machine = Driver(threads: 4, backlog: 4)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.ask("a", 2) == .wait)
        #expect(machine.next() == "a")
        #expect(machine.ask("a", 3) == .wait)
        #expect(machine.answered("a") == [1, 2, 3])
        #expect(machine.next() == nil)
        #expect(machine.ask("a", 4) == .startThread)
        #expect(machine.next() == "a")
        #expect(machine.answered("a") == [4])
    }

    @Test func `the resolver machine refuses names beyond its threads and its backlog`() {
        let machine = Driver(threads: 2, backlog: 2)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.next() == "a")
        #expect(machine.ask("b", 2) == .startThread)
        #expect(machine.next() == "b")
        #expect(machine.ask("c", 3) == .wait)
        #expect(machine.ask("d", 4) == .wait)
        #expect(machine.ask("e", 5) == .refuse)
        #expect(machine.ask("c", 6) == .wait)
        #expect(machine.answered("a") == [1])
        #expect(machine.next() == "c")
        #expect(machine.ask("e", 7) == .wait)
        #expect(machine.answered("e") == [7])
    }

    @Test func `a refused question leaves nothing behind`() {
        let machine = Driver(threads: 1, backlog: 0)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.next() == "a")
        #expect(machine.ask("b", 2) == .refuse)
        #expect(machine.answered("a") == [1])
        #expect(machine.next() == nil)
        #expect(machine.ask("b", 3) == .startThread)
        #expect(machine.next() == "b")
        #expect(machine.answered("b") == [3])
    }

    @Test func `a thread goes on while names wait, in order`() {
        let machine = Driver(threads: 1, backlog: 9)
        for (waiter, name) in ["a", "b", "c"].enumerated() { _ = machine.ask(name, waiter) }
        #expect([machine.next(), machine.next(), machine.next(), machine.next()] == ["a", "b", "c", nil])
    }

    @Test func `a waiter who left is forgotten, and the look-up goes on for later ones`() {
        let machine = Driver(threads: 1, backlog: 1)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.ask("a", 2) == .wait)
        machine.forget("a", 1)
        machine.forget("b", 9)
        #expect(machine.next() == "a")
        machine.forget("a", 2)
        #expect(machine.ask("a", 3) == .wait)
        #expect(machine.answered("a") == [3])
        machine.forget("a", 3)
        #expect(machine.answered("a") == [])
    }

    @Test func `all waiters are returned if no thread can be started`() {
        let machine = Driver(threads: 2, backlog: 4)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.ask("a", 2) == .wait)
        #expect(machine.ask("b", 3) == .startThread)
        #expect(machine.threadFailed() == [])
        #expect(machine.threadFailed() == [1, 2, 3])
        #expect(machine.ask("a", 4) == .startThread)
    }

    @Test func `no waiter is returned while another thread runs`() {
        let machine = Driver(threads: 2, backlog: 4)
        #expect(machine.ask("a", 1) == .startThread)
        #expect(machine.next() == "a")
        #expect(machine.ask("b", 2) == .startThread)
        #expect(machine.threadFailed() == [])
        #expect(machine.answered("a") == [1])
        #expect(machine.next() == "b")
        #expect(machine.answered("b") == [2])
    }
}

@Suite(.timeLimit(.minutes(10))) struct `System resolver` {
    @Test func `the system resolver finds this machine, each address once, with the port asked for`() async throws {
        let addresses = try await SystemResolver().addresses(of: "localhost", port: 4711)
        let known: Set<HTTP.SocketAddress> = [.v4(0x7F00_0001, port: 4711), .v6(0, 1, port: 4711)]
        #expect(!known.isDisjoint(with: addresses))
        #expect(Set(addresses).count == addresses.count)
        #expect(addresses.allSatisfy { "\($0)".hasSuffix(":4711") })
    }

    /// Neither can be a host name, so no name server is asked.
    @Test(arguments: ["", "256.256.256.256.", String(repeating: "a", count: 64) + ".invalid"])
    func `a look-up fails for what is no name, and says why`(name: String) async {
        let failure = await #expect(throws: ResolverError.self) {
            try await SystemResolver().addresses(of: name, port: 1)
        }
        #expect(failure?.kind == .noSuchName)
        #expect(failure?.description.isEmpty == false)
    }

    /// 24 is EMFILE, 23 ENFILE, 12 ENOMEM; -5 is EAI_NODATA, which is no part of the Glibc module.
    @Test(arguments: [
        (EAI_NONAME, nil, true), (-5, nil, true), (EAI_AGAIN, nil, false), (EAI_FAIL, nil, false),
        (EAI_MEMORY, nil, false), (EAI_SYSTEM, nil, false), (EAI_NONAME, Int32(24), false), (-5, 23, false),
        (EAI_NONAME, 12, false), (EAI_AGAIN, 24, false), (EAI_SYSTEM, 23, false), (EAI_MEMORY, 24, false),
    ])
    func `a name counts as unknown only if there was a descriptor to ask with`(
        code: Int32, shortage: Int32?, isAnswer: Bool
    ) {
        let shortage = shortage.map { Errno(rawValue: $0) }
        let error = ResolverError.lookUp(code, Errno(rawValue: 5), shortage: shortage)
        #expect(error.kind == (isAnswer ? .noSuchName : .unanswered))
        if let shortage {
            let remedy = "raise the limit of open files (ulimit -n)"
            #expect(error.description == "no file descriptor is free for the name look-up: \(shortage); \(remedy)")
        }
        if code == EAI_SYSTEM, shortage == nil { #expect(error.description == "\(Errno(rawValue: 5))") }
    }

    @Test func `a look-up beyond the resolver's bounds is refused`() async {
        let failure = await #expect(throws: ResolverError.self) {
            try await SystemResolver(threads: 0, backlog: 0).addresses(of: "localhost", port: 1)
        }
        #expect(failure?.kind == .overloaded)
        #expect(failure?.description.hasPrefix("0 names wait to be looked up, a fixed limit") == true)
    }

    @Test func `a cancelled task gets a cancellation error`() async {
        let task = Task {
            // A resolver without threads never answers.
            try await SystemResolver(threads: 0, backlog: 1).addresses(of: "localhost", port: 1)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `the system resolver answers many who ask at once`() async throws {
        let resolver = SystemResolver(threads: 2, backlog: 4)
        try await withThrowingTaskGroup(of: [HTTP.SocketAddress].self) { group in
            for port in 1...100 { group.addTask { try await resolver.addresses(of: "localhost", port: UInt16(port)) } }
            var answers: Set<HTTP.SocketAddress> = []
            for try await answer in group { answers.formUnion(answer) }
            let ports: [Substring] = answers.compactMap { "\($0)".split(separator: ":").last }
            #expect(Set(ports).count == 100)
        }
    }
}
