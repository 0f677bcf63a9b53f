internal import DunlinSemantics
internal import Synchronization

/// Ensures that a session with pins sends no request, and follows no redirect, in clear text.
///
/// The origin of each hop is checked, so that no response leads out of protection.
final class ClearTextRule: Sendable {
    private let isRefused: Atomic<Bool>

    init(_ policy: SecurityPolicy) {
        isRefused = Atomic(policy.isPinning)
    }

    /// Replaces the policy.
    func follow(_ policy: SecurityPolicy) {
        isRefused.store(policy.isPinning, ordering: .relaxed)
    }

    @inline(__always)
    func check(_ origin: HTTP.Origin) throws {
        if origin.scheme == .http, isRefused.load(ordering: .relaxed) { throw Self.refusal(origin) }
    }

    private static func refusal(_ origin: HTTP.Origin) -> NetworkError {
        NetworkError(
            .clearTextRefused, "the session pins its servers, so it sends nothing over http; use https",
            peer: origin.description)
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
