import DunlinReactor
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(5))) struct `What may move while a transfer is suspended` {
    private static func control() throws -> TransferControl {
        TransferControl(on: try ReactorGroup.shared.reactors()[0], priority: .normal)
    }

    @Test func `a suspended transfer lets nothing pass for a task that is cancelled, and all when it is resumed`()
        async throws
    {
        let control = try Self.control()
        #expect(await control.pass(until: .never) == .open)
        #expect(control.suspend())
        for _ in 1...100 {
            let passing = Task { await control.pass(until: .never) }
            passing.cancel()
            #expect(await passing.value == .cancelled)
        }
        let passing = Task { await control.pass(until: .never) }
        #expect(control.resume())
        #expect(await passing.value == .open)
        // A task that is cancelled passes where nothing is suspended: whoever cancels it is heard elsewhere.
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await control.pass(until: .never)
        }
        #expect(await cancelled.value == .open)
    }

    @Test func `a suspended transfer lets nothing pass after the deadline`() async throws {
        let control = try Self.control()
        #expect(control.suspend())
        #expect(await control.pass(until: HTTP.Instant(nanoseconds: 0)) == .timedOut)
    }
}
