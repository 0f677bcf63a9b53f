public import Dunlin
public import Foundation

/// Foundation asks a type for its domain, not a value: `error as NSError` has the right number, but this domain even
/// for responses that were not accepted. `NSError(bridging:)` and `foundationCode` have the right domain.
extension NetworkError: CustomNSError, LocalizedError {
    public static var errorDomain: String { Domain.url }
    public var errorCode: Int { foundationCode.code }

    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: foundationDescription]
        info[NSLocalizedFailureReasonErrorKey] = reason
        info[UserInfoKey.underlyingError] = underlying.map { NSError(bridging: $0) }
        info[UserInfoKey.response] = response
        info[UserInfoKey.responseData] = body.map { Data($0) }
        info.merge(trustFailure?.trustInfo ?? [:]) { known, _ in known }
        info.merge(NSError.url(request?.url)) { known, _ in known }
        return info
    }

    public var errorDescription: String? { foundationDescription }
    public var failureReason: String? { reason }
}

extension HTTPSession.ServerTrustFailure: CustomNSError, LocalizedError {
    public static var errorDomain: String { NetworkError.Domain.url }
    public var errorCode: Int { Self.urlErrorCode }

    public var errorUserInfo: [String: Any] {
        var info = trustInfo
        info[NSLocalizedDescriptionKey] = description
        info[NSLocalizedFailureReasonErrorKey] = refusal.description
        info[NetworkError.UserInfoKey.underlyingError] = NSError(bridging: refusal)
        return info
    }

    public var errorDescription: String? { description }
    public var failureReason: String? { refusal.description }

    /// The details of trust. Each key is optional by itself: there may be a URL without certificates, or certificates
    /// without a URL.
    fileprivate var trustInfo: [String: Any] {
        var info = NSError.url(failingURL)
        info[NetworkError.UserInfoKey.peerTrust] = peerCertificates
        return info
    }
}
