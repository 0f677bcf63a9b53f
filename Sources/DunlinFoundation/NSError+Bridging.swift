internal import Dunlin
public import Foundation

extension NSError {
    /// Creates the NSError that Foundation and AFNetworking would have made for a request's error, with their domain,
    /// number, description and `userInfo` keys (`NetworkError.UserInfoKey`), and the chain of underlying errors. An
    /// error that is not Dunlin's is unchanged.
    ///
    /// `failingURL` is the request's URL, for errors that do not contain it. It is used unchanged.
    ///
    /// `error as NSError` gives the same, except for what Foundation takes from the type and not the value: the domain
    /// of a response that was not accepted, and `CancellationError`.
    public convenience init(bridging error: any Error, failingURL: String? = nil) {
        let parts = Self.parts(of: error)
        var userInfo = parts.userInfo
        if let failingURL, userInfo[NetworkError.UserInfoKey.failingURLString] == nil {
            userInfo.merge(Self.url(failingURL)) { known, _ in known }
        }
        self.init(domain: parts.domain, code: parts.code, userInfo: userInfo)
    }

    private static func parts(of error: any Error) -> (domain: String, code: Int, userInfo: [String: Any]) {
        if let code = NetworkError.FoundationCode(of: error) { return (code.domain, code.code, details(of: error)) }
        if let failures = error as? NetworkError.ConnectionFailures, let first = failures.failures.first {
            return (NetworkError.Domain.posix, Int(first.errno), details(of: failures))
        }
        let bridged = error as NSError
        return (bridged.domain, bridged.code, bridged.userInfo)
    }

    private static func details(of error: any Error) -> [String: Any] {
        switch error {
        case let error as NetworkError: error.errorUserInfo
        case let error as HTTPSession.ServerTrustFailure: error.errorUserInfo
        case is CancellationError: [NSLocalizedDescriptionKey: "cancelled"]
        default: [NSLocalizedDescriptionKey: "\(error)"]
        }
    }

    private static func details(of failures: NetworkError.ConnectionFailures) -> [String: Any] {
        let each = failures.failures.map { failure in
            NSError(
                domain: NetworkError.Domain.posix, code: Int(failure.errno),
                userInfo: [NSLocalizedDescriptionKey: "\(failure.address): \(failure.reason)"])
        }
        return [NSLocalizedDescriptionKey: "\(failures)", NetworkError.UserInfoKey.underlyingErrors: each]
    }

    /// The request's URL; text that is not a URL stays text.
    static func url(_ text: String?) -> [String: Any] {
        guard let text else { return [:] }
        var info: [String: Any] = [NetworkError.UserInfoKey.failingURLString: text]
        if let url = URL(string: text) { info[NetworkError.UserInfoKey.failingURL] = url }
        return info
    }
}
