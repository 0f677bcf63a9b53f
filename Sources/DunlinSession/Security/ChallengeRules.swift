/// Decides the consequences of a challenge and the answer to it.
///
/// Rules:
/// 1. The request's hook is asked first; if it has no opinion, the session's; if that has none, the default applies.
/// 2. By default, the policy decides about a server, and the configured identity is presented.
/// 3. A refused server is trusted only if the answer says so explicitly; then that is reported.
/// 4. An answer that does not fit the challenge fails the request. It never counts as one that would fit.
/// 5. Cancelling ends the request with the error that was given, or as cancelled.
enum ChallengeRules {
    enum Outcome: Sendable {
        /// The server is trusted.
        case proceed
        /// The server is trusted against the policy.
        case proceedDespite(NetworkError.TrustRefusal)
        /// The server is not trusted.
        case refuse(NetworkError.TrustRefusal)
        /// Present this credential.
        case present(HTTPSession.ClientIdentity)
        /// Present the configured identity, if there is one.
        case presentDefault
        /// Present no identity, and continue.
        case presentNothing
        case fail(any Error)
    }

    static func outcome(
        of response: HTTPSession.AuthenticationChallenge.Answer, to challenge: HTTPSession.AuthenticationChallenge
    ) -> Outcome {
        if case .cancel(let error) = response {
            return .fail((error ?? cancellation).decided)
        }
        return switch challenge.kind {
        case .serverTrust(let decision): trust(decision, response, challenge)
        case .clientCertificate: identity(response, challenge)
        // A handshake has no protection space.
        case .protectionSpace: .fail(unusable(.trustDespiteRefusal, challenge))
        }
    }

    private static func trust(
        _ decision: HTTP.TrustDecision, _ response: HTTPSession.AuthenticationChallenge.Answer,
        _ challenge: HTTPSession.AuthenticationChallenge
    ) -> Outcome {
        switch (response, decision) {
        case (.performDefault, .accepted), (.useCredential(.trustDespiteRefusal), .accepted): .proceed
        case (.useCredential(.trustDespiteRefusal), .refused(let refusal)): .proceedDespite(refusal)
        case (.useCredential(let credential), _): .fail(unusable(credential, challenge))
        case (_, .refused(let refusal)): .refuse(refusal)
        case (.reject, .accepted(let path)), (.cancel, .accepted(let path)): .refuse(rejection(of: path, challenge))
        }
    }

    private static func identity(
        _ response: HTTPSession.AuthenticationChallenge.Answer, _ challenge: HTTPSession.AuthenticationChallenge
    ) -> Outcome {
        switch response {
        case .performDefault: .presentDefault
        case .useCredential(.identity(let identity)): .present(identity)
        case .useCredential(let credential): .fail(unusable(credential, challenge))
        case .reject, .cancel: .presentNothing
        }
    }

    private static func rejection(of path: [Certificate], _ challenge: HTTPSession.AuthenticationChallenge)
        -> NetworkError.TrustRefusal
    {
        NetworkError.TrustRefusal(
            .refusedByHook, host: challenge.origin.host, depth: 0, certificate: path.first, path: path)
    }

    static func unusable(
        _ credential: HTTPSession.AuthenticationChallenge.Credential, _ challenge: HTTPSession.AuthenticationChallenge
    ) -> NetworkError {
        NetworkError(
            .unusableCredential,
            "the authentication handler answered with \(credential), which does not fit the challenge",
            phase: challenge.response == nil ? .tls : .receive,
            requestMayHaveBeenSent: challenge.response != nil, isSafeToRetry: true,
            peer: challenge.origin.description, response: challenge.response)
    }

    private static var cancellation: NetworkError {
        NetworkError(.cancelled, "the authentication handler cancelled the request", phase: .tls, isSafeToRetry: true)
    }
}

/// The handlers that are asked about the challenges of one request.
struct ChallengeHooks: Sendable {
    var session: HTTPSession.AuthenticationHandler?
    var request: HTTPSession.AuthenticationHandler?

    /// Whether there are no hooks, so that there is nothing to wait for.
    var isEmpty: Bool { session == nil && request == nil }

    func outcome(of challenge: HTTPSession.AuthenticationChallenge) async -> ChallengeRules.Outcome {
        for hook in [request, session] {
            let response = await Self.response(of: hook, to: challenge)
            if case .performDefault = response { continue }
            return ChallengeRules.outcome(of: response, to: challenge)
        }
        return ChallengeRules.outcome(of: .performDefault, to: challenge)
    }

    /// The response of a hook, which runs off the loop.
    static func response(
        of hook: HTTPSession.AuthenticationHandler?, to challenge: HTTPSession.AuthenticationChallenge
    ) async -> HTTPSession.AuthenticationChallenge.Answer {
        guard let hook else { return .performDefault }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            leaveLoop()
            return await hook(challenge)
        }
    }
}

extension Error {
    /// The same error, as what the user's code chose to end the request with.
    var decided: any Error {
        guard var failure = self as? NetworkError else { return self }
        failure.isDecided = true
        return failure
    }
}
