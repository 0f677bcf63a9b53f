import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinRules

@Suite struct `Resend machine` {
    private static func error(
        _ code: NetworkError.Code = .connectionClosed, isSafe: Bool = true, wasReused: Bool = true
    ) -> NetworkError {
        var error = NetworkError(code, "", isSafeToRetry: isSafe)
        error.connectionWasReused = wasReused
        return error
    }

    static let failures: [(any Error, Bool, ResendMachine.Action)] = [
        (error(), true, .sendOnFreshConnection),
        (error(), false, .pass),
        (error(isSafe: false), true, .pass),
        (error(wasReused: false), true, .pass),
        (error(.timedOut), true, .pass),
        (error(.invalidResponse), true, .pass),
        (CancellationError(), true, .pass),
    ]

    @Test(.rules("9112-9.3.1-1"), arguments: failures)
    func `only a request that a closing server cannot have worked on is sent again`(
        error: any Error, isReplayable: Bool, expected: ResendMachine.Action
    ) {
        var machine = ResendMachine()
        let action = machine.failed(error, isReplayable: isReplayable)
        #expect(action == expected)
    }

    @Test(.rules("9110-9.2.2-2", "9112-9.3.1-2")) func `a request that failed is sent again only once`() {
        var machine = ResendMachine()
        let actions = [
            machine.failed(Self.error(), isReplayable: true), machine.failed(Self.error(), isReplayable: true),
        ]
        #expect(actions == [.sendOnFreshConnection, .pass])
    }

    @Test(arguments: [200, 206, 300, 301, 302, 303, 304, 307, 308, 401, 404, 503] as [HTTP.Status])
    func `a response that fails no expectation is passed on, whatever its status`(status: HTTP.Status) {
        var machine = ResendMachine()
        let action = machine.received(status, isExpecting: true, canBeSent: true)
        #expect(action == .pass)
    }

    @Test func `a request is sent again once`() {
        var machine = ResendMachine()
        let actions = (0..<2).map { _ in machine.failed(Self.error(), isReplayable: true) }
        #expect(actions == [.sendOnFreshConnection, .pass])
    }

    @Test(.rules("9110-10.1.1-4"), arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `an expectation that failed is dropped once, if the body can be sent`(isExpecting: Bool, canBeSent: Bool) {
        var machine = ResendMachine()
        let expected: ResendMachine.Action = isExpecting && canBeSent ? .sendWithoutExpectation : .pass
        let actions = (0..<2).map { _ in machine.received(417, isExpecting: isExpecting, canBeSent: canBeSent) }
        #expect(actions == [expected, .pass])
    }
}
