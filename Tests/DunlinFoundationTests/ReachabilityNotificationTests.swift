import Dunlin
import DunlinFoundation
import DunlinTesting
import Foundation
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Reachability notifications` {
    /// What observers were told, in order.
    private final class Told: Sendable {
        struct Note: Sendable, Equatable {
            let number: Int?
            let isAboutReachability: Bool
        }

        private let state = Mutex<[Note]>([])
        let center = NotificationCenter()

        init() {
            let name = NotificationBridge.Name.reachabilityDidChange
            _ = center.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
                let number = note.userInfo?[NotificationBridge.Key.reachabilityStatus] as? NSNumber
                let told = Note(number: number?.intValue, isAboutReachability: note.object is Reachability)
                self?.state.withLock { $0.append(told) }
            }
        }

        func notes(_ count: Int) async throws -> [Note] {
            try await eventually("note number \(count)") { state.withLock { $0.count } >= count }
            return state.withLock { $0 }
        }
    }

    private static func expected(_ numbers: Int...) -> [Told.Note] {
        numbers.map { Told.Note(number: $0, isAboutReachability: true) }
    }

    @Test(.rows("RE-11", "NO-7", "VD-14")) func `a reachability notification has AFNetworking's name, key and numbers`()
        async throws
    {
        #expect(
            NotificationBridge.Name.reachabilityDidChange.rawValue == "com.alamofire.networking.reachability.change")
        #expect(NotificationBridge.Key.reachabilityStatus == "AFNetworkingReachabilityNotificationStatusItem")
        let (network, told) = (ManualNetwork(.wired), Told())
        let reachability = Reachability(source: network)
        let bridge = NotificationBridge(reachability, center: told.center)
        #expect(try await told.notes(1) == Self.expected(2))
        for (status, numbers) in [(Reachability.Status.notReachable, 2), (.wwan, 3), (.wifi, 4)] {
            network.change(to: status)
            _ = try await told.notes(numbers)
        }
        #expect(try await told.notes(4) == Self.expected(2, 0, 1, 2))
        _ = bridge
    }

    @Test(.rows("NO-7")) func `a session that reports reachability is notified of it until it is shut down`()
        async throws
    {
        let (network, told) = (ManualNetwork(.wwan), Told())
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: MockTransport())
        configuration.reachability = Reachability(source: network)
        configuration.emitsReachabilityEvents = true
        let session = try HTTPSession(configuration)
        let bridge = NotificationBridge(session, center: told.center)
        #expect(try await told.notes(1) == Self.expected(1))
        await session.shutdown()
        #expect(network.listenerCount == 0)
        _ = bridge
    }
}
