import DunlinReactor
import DunlinTypes

/// Looks now and then whether something has come about; the suite's time limit ends a wait in vain. Waits on a loop,
/// not on a thread that others need.
package func eventually(_ condition: () async -> Bool) async throws {
    let loop = try ReactorGroup.shared.reactors()[0]
    while await !condition() {
        _ = await Parking<Void>(on: loop).wait(until: loop.now().advanced(by: 1_000_000), interrupt: nil)
    }
}
