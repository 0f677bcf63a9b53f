public import Dunlin

extension NetworkError {
    /// The text that AFNetworking shows a user for such an error, if it has its own; otherwise `reason`.
    public var foundationDescription: String {
        switch code {
        case .serverTrustFailed: trustFailure?.description ?? reason
        case .unacceptableStatus: response.map { Self.refused($0.status) } ?? reason
        case .unacceptableContentType: response.map { Self.refused($0.contentType) } ?? reason
        default: reason
        }
    }

    private static func refused(_ status: HTTP.Status) -> String {
        "Request failed: \(status.phrase) (\(status))"
    }

    private static func refused(_ contentType: String?) -> String {
        "Request failed: unacceptable content-type: \(contentType ?? "none")"
    }
}

extension ResponseHead {
    /// The content type without its parameters.
    fileprivate var contentType: String? {
        fields["content-type"].map { $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased() }
    }
}
