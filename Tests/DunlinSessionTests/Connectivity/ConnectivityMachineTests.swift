import Dunlin
import DunlinRules
import Testing

@testable import DunlinSession

@Suite struct `The connectivity machine` {
    typealias Machine = ConnectivityMachine

    private enum Step {
        case failed(Machine.Failure)
        case changed
        case looked(Reachability.Status)
    }

    private static let tables: [[(Step, Machine.Action)]] = [
        // The kernel says that there is no way, and there is none.
        [
            (.failed(.noWay), .look), (.looked(.notReachable), .wait), (.changed, .look),
            (.looked(.notReachable), .wait),
            (.changed, .look), (.looked(.wired), .send),
        ],
        // The way came up meanwhile; should that not be so after all, it is tried a few times.
        [
            (.failed(.noWay), .look), (.looked(.wifi), .send), (.failed(.noWay), .look), (.looked(.wifi), .rest),
            (.looked(.wifi), .rest), (.looked(.wifi), .rest), (.looked(.wifi), .rest), (.looked(.wifi), .wait),
            (.changed, .look), (.looked(.wifi), .send),
        ],
        // Nobody answered, though there is a network.
        [(.failed(.silence), .look), (.looked(.wired), .fail)],
        [(.failed(.silence), .look), (.looked(.unknown), .fail)],
        // Nobody answered, and there is none. One that has just come may know no names yet.
        [
            (.failed(.silence), .look), (.looked(.notReachable), .wait), (.changed, .look), (.looked(.wwan), .send),
            (.failed(.silence), .look), (.looked(.wwan), .rest), (.failed(.silence), .look), (.looked(.wwan), .rest),
            (.failed(.silence), .look), (.looked(.wwan), .rest), (.failed(.silence), .look), (.looked(.wwan), .rest),
            (.failed(.silence), .look), (.looked(.wwan), .fail),
        ],
        [
            (.failed(.noWay), .look), (.looked(.wired), .send), (.failed(.silence), .look), (.looked(.wired), .rest),
            (.failed(.other), .fail),
        ],
        // Whether rules allow what there is now, only an attempt can tell.
        [
            (.failed(.refused), .look), (.looked(.wwan), .wait), (.changed, .send), (.failed(.refused), .look),
            (.looked(.wwan), .wait), (.changed, .send),
        ],
        [(.failed(.other), .fail), (.looked(.notReachable), .fail)],
        // Where nothing is known, a change is worth an attempt.
        [(.failed(.noWay), .look), (.looked(.unknown), .send), (.failed(.other), .fail)],
    ]

    @Test(arguments: tables.indices)
    func `a request waits only for want of a network, and goes when there is a way`(index: Int) {
        var machine = Machine()
        for (number, (step, expected)) in Self.tables[index].enumerated() {
            let action =
                switch step {
                case .failed(let failure): machine.failed(failure)
                case .changed: machine.changed()
                case .looked(let status): machine.looked(hasRoute: status != .notReachable)
                }
            #expect(action == expected, "step \(number) of table \(index)")
        }
    }

    private static func failures(_ numbers: Int32...) -> NetworkError.ConnectionFailures {
        NetworkError.ConnectionFailures(numbers.map { .init(address: .v4(1, port: 1), errno: $0, reason: "\($0)") })
    }

    private static let errors: [(NetworkError, Machine.Failure)] = [
        (NetworkError(.nameNotResolved, "", phase: .resolve), .silence),
        (NetworkError(.timedOut, "", phase: .resolve), .silence),
        (NetworkError(.timedOut, "", phase: .connect), .silence),
        (NetworkError(.timedOut, "", phase: .connect, exceeding: .connect), .silence),
        (NetworkError(.timedOut, "", phase: .connect, exceeding: .total), .other),
        (NetworkError(.timedOut, "", phase: .tls), .other),
        (NetworkError(.timedOut, "", phase: .pool), .other),
        (NetworkError(.interfaceRefused, "", phase: .connect), .refused),
        // ENETUNREACH 101, ENETDOWN 100, EHOSTUNREACH 113, ETIMEDOUT 110, EADDRNOTAVAIL 99; ECONNREFUSED 111.
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures(101, 100)), .noWay),
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures(101, 113)), .silence),
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures(110)), .silence),
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures(99)), .silence),
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures(101, 111)), .other),
        (NetworkError(.connectionFailed, "", phase: .connect, underlying: failures()), .other),
        (NetworkError(.connectionFailed, "", phase: .connect), .other),
        (
            NetworkError(
                .connectionFailed, "", phase: .connect, requestMayHaveBeenSent: true, underlying: failures(101)), .other
        ),
        (NetworkError(.connectionClosed, "", phase: .connect), .other),
        (NetworkError(.cancelled, "", phase: .connect), .other),
    ]

    @Test(arguments: errors)
    func `a network that is missing is told from a host that refuses`(error: NetworkError, failure: Machine.Failure) {
        #expect(Machine.Failure(error) == failure)
    }
}
