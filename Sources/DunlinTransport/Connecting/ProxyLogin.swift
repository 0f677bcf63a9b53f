internal import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

/// The authentication to a proxy: Basic at once, and Digest once the proxy has asked for it.
///
/// The rules are those of `ChallengeChoice` and `DigestMachine`. Connections with the same proxy and credentials share
/// its nonce, since its uses are counted.
struct ProxyLogin: Sendable {
    enum Sent: Sendable {
        case basic(String)
        case digest(DigestAnswer)

        var value: String {
            switch self {
            case .basic(let value): value
            case .digest(let answer): answer.value
            }
        }
    }

    enum Decision {
        case send(Sent)
        case fail(String)
    }

    let proxy: ProxyAddress
    let memory: ProxyMemory

    /// What a request carries before the proxy has asked. Throws for credentials that no field can carry.
    func unasked(_ request: HashedRequest) throws -> Sent? {
        guard let credentials = proxy.credentials else { return nil }
        if let answer = memory.answer(for: proxy, request) { return .digest(answer) }
        do throws(Authorization.Problem) {
            return .basic(try Authorization.basic(user: credentials.user, password: credentials.password))
        } catch .colonInUser {
            // Digest can carry it, if the proxy asks for that.
            return nil
        } catch {
            throw NetworkError(.proxyAuthenticationFailed, "\(error)", phase: .tunnel, underlying: error)
        }
    }

    /// What to do after the proxy has asked; `last` is what the request carried before.
    func challenged(_ response: ResponseHead?, to request: HashedRequest, after last: Sent?) -> Decision {
        guard let response, let credentials = proxy.credentials else {
            return .fail("the proxy asks for a user name and a password; add them to its URL")
        }
        let choice = ChallengeChoice(Challenge.all(in: response.fields, from: .proxy))
        var offersDigest = false
        for option in choice.options {
            switch option {
            case .digest(let challenge):
                offersDigest = true
                var before: DigestAnswer?
                if case .digest(let answer) = last { before = answer }
                if let answer = memory.answer(challenge, of: proxy, credentials, request, after: before) {
                    return .send(.digest(answer))
                }
            case .basic:
                if case .basic = last { continue }
                // A password that Digest showed to be wrong is wrong by Basic too.
                if case .digest = last, offersDigest { continue }
                do throws(Authorization.Problem) {
                    return .send(
                        .basic(try Authorization.basic(user: credentials.user, password: credentials.password)))
                } catch {
                    // Digest may be able to carry it.
                    continue
                }
            }
        }
        if choice.options.isEmpty {
            let asked = choice.refusals.map(\.description).joined(separator: "; ")
            return .fail(
                "the proxy asks for neither Digest nor Basic, and nothing else is supported"
                    + (asked.isEmpty ? "" : ": \(asked)"))
        }
        return .fail("the proxy refused the user name and the password")
    }
}

/// The Digest challenges of a transport's proxies.
final class ProxyMemory: Sendable {
    private let machines = Mutex(RecentValues<ProxyAddress, DigestMachine>(limit: 64))

    /// The hash that a body needs for a proxy that has asked before; nil if none.
    func bodyHashFunction(for proxy: ProxyAddress) -> HashFunction? {
        machines.withLock { $0[proxy]?.bodyHashFunction }
    }

    /// An unasked answer for a proxy that has asked before; otherwise nil.
    func answer(for proxy: ProxyAddress, _ request: HashedRequest) -> DigestAnswer? {
        machines.withLock { machines in
            guard var machine = machines[proxy] else { return nil }
            defer { machines.keep(machine, for: proxy) }
            return Self.answer(&machine, request, .unasked)
        }
    }

    /// The answer to a challenge; nil if there is none or the password is wrong.
    func answer(
        _ challenge: DigestChallenge, of proxy: ProxyAddress, _ credentials: ProxyCredentials,
        _ request: HashedRequest, after last: DigestAnswer?
    ) -> DigestAnswer? {
        machines.withLock { machines -> DigestAnswer? in
            guard var machine = machines[proxy] ?? Self.machine(credentials) else { return nil }
            guard case .answer(let cause) = machine.challenged(challenge, after: last) else {
                machines.remove(proxy)
                // Parallel requests may arrive in another order than their counts, which squid takes for stale. So this
                // one has a nonce of its own; how often the proxy may ask is limited elsewhere.
                guard challenge.isStale, var own = Self.machine(credentials),
                    case .answer(let cause) = own.challenged(challenge)
                else { return nil }
                return Self.answer(&own, request, cause)
            }
            defer { machines.keep(machine, for: proxy) }
            return Self.answer(&machine, request, cause)
        }
    }

    private static func machine(_ credentials: ProxyCredentials) -> DigestMachine? {
        do throws(Authorization.Problem) {
            return try DigestMachine(user: credentials.user, password: credentials.password)
        } catch {
            return nil
        }
    }

    private static func answer(
        _ machine: inout DigestMachine, _ request: HashedRequest, _ cause: DigestAnswer.Cause
    ) -> DigestAnswer? {
        do { return try machine.answer(request, cause: cause) } catch { return nil }
    }
}
