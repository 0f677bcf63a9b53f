import Dunlin
import DunlinReactor
import LedgerRows
import Testing

@testable import DunlinReachability
@testable import DunlinTransfers

@Suite struct `Reachability statuses` {
    @Test(
        .rows("RE-1", "RE-2", "RE-13"),
        arguments: [
            (Reachability.Status.unknown, -1, -1, "Unknown", false), (.notReachable, 0, 0, "Not Reachable", false),
            (.wwan, 1, 1, "Reachable via WWAN", true), (.wifi, 2, 2, "Reachable via WiFi", true),
            (.wired, 3, 2, "Reachable via Ethernet", true),
        ])
    func `reachability statuses have AFNetworking's numbers and words`(
        status: Reachability.Status, raw: Int, compatible: Int, text: String, isReachable: Bool
    ) {
        #expect(status.rawValue == raw)
        #expect(status.compatibilityValue == compatible)
        #expect("\(status)" == text)
        #expect(status.isReachable == isReachable)
    }

    /// All combinations of the five flags that decide.
    @Test(.rows("RE-3"), arguments: 0..<32)
    func `a reachability status follows from the flags by AFNetworking's rule`(bits: Int) {
        let all: [Reachability.Flags] = [
            .reachable, .connectionRequired, .connectionOnDemand, .connectionOnTraffic, .interventionRequired,
        ]
        let flags = all.indices.reduce(into: Reachability.Flags()) { if bits & 1 << $1 != 0 { $0.insert(all[$1]) } }
        let has = { (bit: Int) in bits & 1 << bit != 0 }
        let isReachable = has(0) && (!has(1) || ((has(2) || has(3)) && !has(4)))
        #expect(flags.status == (isReachable ? .wired : .notReachable))
        #expect(flags.union(.isWiFi).status == (isReachable ? .wifi : .notReachable))
        #expect(flags.union([.isWWAN, .isWiFi]).status == (isReachable ? .wwan : .notReachable))
        #expect(flags.union(.isLocalAddress).status == flags.status)
    }

    @Test(.rows("RE-3")) func `reachability flags have SCNetworkReachability's numbers`() {
        let flags: [(Reachability.Flags, UInt32)] = [
            (.reachable, 2), (.connectionRequired, 4), (.connectionOnTraffic, 8), (.interventionRequired, 16),
            (.connectionOnDemand, 32), (.isLocalAddress, 0x10000), (.isWWAN, 0x40000),
        ]
        for (flag, number) in flags { #expect(flag.rawValue == number) }
    }
}

@Suite struct `What the kernel says` {
    typealias Finding = RouteFinding

    private static func finding(
        _ kind: NetworkInterface.Kind, isUp: Bool = true, isDormant: Bool = false, isPointToPoint: Bool = false,
        hasSource: Bool = true
    ) -> Finding {
        var finding = Finding(.outward, through: NetworkInterface(name: "x", index: 2, kind: kind))
        finding.isUp = isUp
        finding.isDormant = isDormant
        finding.isPointToPoint = isPointToPoint
        finding.hasSource = hasSource
        return finding
    }

    @Test(
        .rows("RE-3"),
        arguments: [
            (Finding(.unknown), .unknown), (Finding(.none), .notReachable), (Finding(.local), .wired),
            (finding(.wired), .wired), (finding(.tunnel), .wired), (finding(.wifi), .wifi), (finding(.wwan), .wwan),
            (finding(.wired, isUp: false), .notReachable), (finding(.wwan, hasSource: false), .notReachable),
            // Dialled when there is something to send; let in by nobody but the network.
            (finding(.wwan, isUp: false, isDormant: true, isPointToPoint: true), .wwan),
            (finding(.wifi, isUp: false, isDormant: true), .notReachable),
        ] as [(Finding, Reachability.Status)])
    func `what the kernel says of a route becomes a reachability status`(finding: Finding, status: Reachability.Status)
    {
        #expect(Reachability.Path(finding).status == status)
    }
}

@Suite struct `The reachability machine` {
    typealias Machine = ReachabilityMachine

    private static let wired = Reachability.Path(flags: .reachable)

    /// What happens, and what is to be done about it each time.
    private static let plain: [(Machine.Event, [Machine.Action])] = [
        (.changed, [.look(1)]), (.found(wired, look: 1), [.tell(wired)]),
        (.changed, [.look(2)]), (.changed, [.look(3)]),
        // What an earlier look finds is old.
        (.found(.none, look: 2), []), (.nameless(look: 2), []), (.rested(look: 1), []), (.probed(true, look: 3), []),
        (.found(.none, look: 3), [.tell(.none)]), (.found(.unknown, look: 3), [.tell(.unknown)]),
    ]

    private static let named: [(Machine.Event, [Machine.Action])] = [
        (.changed, [.look(1)]), (.nameless(look: 1), [.tell(.none), .rest(.seconds(5), 1)]),
        (.rested(look: 1), [.look(2)]), (.nameless(look: 2), [.tell(.none), .rest(.seconds(10), 2)]),
        (.rested(look: 2), [.look(3)]), (.nameless(look: 3), [.tell(.none), .rest(.seconds(20), 3)]),
        (.changed, [.look(4)]), (.rested(look: 3), []),
        (.nameless(look: 4), [.tell(.none), .rest(.seconds(5), 4)]), (.rested(look: 4), [.look(5)]),
        (.found(wired, look: 5), [.tell(wired)]),
    ]

    private static let probing: [(Machine.Event, [Machine.Action])] = [
        (.changed, [.look(1)]), (.found(.none, look: 1), [.tell(.none)]),
        (.changed, [.look(2)]), (.found(wired, look: 2), [.probe(2)]),
        (.probed(false, look: 2), [.tell(.none), .rest(.seconds(60), 2)]), (.rested(look: 2), [.probe(2)]),
        (.probed(true, look: 2), [.tell(wired), .rest(.seconds(60), 2)]),
        (.changed, [.look(3)]), (.probed(true, look: 2), []), (.rested(look: 2), []),
        (.nameless(look: 3), [.tell(.none), .rest(.seconds(5), 3)]), (.rested(look: 3), [.look(4)]),
        (.found(wired, look: 4), [.probe(4)]),
    ]

    @Test(arguments: [(plain, nil), (named, nil), (probing, Duration.seconds(60))])
    func `the reachability machine looks after each change, and tells what counts now`(
        steps: [(Machine.Event, [Machine.Action])], interval: Duration?
    ) {
        var machine = Machine(probeInterval: interval)
        for (event, actions) in steps { #expect(machine.take(event) == actions, "\(event)") }
    }

    @Test func `a name without an address is asked for ever less often, down to every five minutes`() {
        var machine = Machine()
        var look: UInt64 = 1
        var pauses: [Duration] = []
        _ = machine.take(.changed)
        for _ in 0..<9 {
            if case .rest(let pause, _)? = machine.take(.nameless(look: look)).last { pauses.append(pause) }
            _ = machine.take(.rested(look: look))
            look += 1
        }
        #expect(pauses.map(\.components.seconds) == [5, 10, 20, 40, 80, 160, 300, 300, 300])
    }
}
