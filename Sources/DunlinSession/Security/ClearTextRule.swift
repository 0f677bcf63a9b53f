internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Ensures that a session with pins sends no request, and follows no redirect, in clear text.
///
/// The origin of each hop is checked, so that no response leads out of protection, and again once it has its
/// connection: a session may pin while a request waits.
final class ClearTextRule: Sendable {
    private let isPinning: Atomic<Bool>

    init(_ policy: SecurityPolicy) {
        isPinning = Atomic(policy.isPinning)
    }

    var isRefused: Bool { isPinning.load(ordering: .relaxed) }

    /// Replaces the policy.
    func adopt(_ policy: SecurityPolicy) {
        isPinning.store(policy.isPinning, ordering: .relaxed)
    }

    func check(_ origin: HTTP.Origin) throws {
        if origin.scheme == .http, isRefused { throw Self.refusal(origin) }
    }

    private static func refusal(_ origin: HTTP.Origin) -> NetworkError {
        NetworkError(
            .clearTextRefused, NetworkError.clearTextReason, peer: origin.description)
    }

    /// Throws unless it is clear which hosts are pinned. Pins for all hosts need an https base URL, which names the
    /// host; pins for named hosts name it themselves.
    static func check(_ policy: SecurityPolicy, baseURL: String?) throws {
        guard policy.isPinning else { return }
        guard let url = baseURL else {
            if policy.pins.isEmpty, policy.backupPins.isEmpty, !policy.hosts.isEmpty { return }
            throw refusal(policy, "there is none")
        }
        do throws(AddressError) {
            if try WebAddress(base: url).origin.scheme == .https { return }
        } catch {
            // A mistake in the base URL is reported where it is used.
            return
        }
        throw refusal(policy, "it is not https")
    }

    private static func refusal(_ policy: SecurityPolicy, _ why: String) -> NetworkError {
        NetworkError(
            .insecurePinningConfiguration,
            """
            pinning mode \(policy.pinningMode.rawValue) requires a secure base URL, and \(why): set `baseURL` to the \
            https URL of the server that is pinned
            """)
    }
}
