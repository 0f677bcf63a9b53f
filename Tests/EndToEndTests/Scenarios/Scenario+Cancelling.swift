import Dunlin
import DunlinTesting

extension Scenario {
    /// A request that is stopped where it hangs, in each way and in each place.
    static let cancellations: [Scenario] = Predicament.allCases.filter { $0.phase != .tls }.flatMap { predicament in
        [
            Scenario("cancel-task-in-\(predicament.rawValue)", server: predicament.server) {
                predicament.configure(&$0)
            } _: { scene in
                try await scene.whenStuck(in: predicament, { try await predicament.request(scene.stage) }) {
                    await scene.noteTasks("while it hangs")
                    $0.cancel()
                }
            },
            Scenario(
                "cancel-registry-in-\(predicament.rawValue)", server: predicament.server,
                hasAttempts: predicament != .send
            ) {
                predicament.configure(&$0)
            } _: { scene in
                try await scene.whenStuck(in: predicament, { try await predicament.request(scene.stage) }) { _ in
                    await scene.session.tasks.cancelAll()
                }
            },
        ]
    }
}
