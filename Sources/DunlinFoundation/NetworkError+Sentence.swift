public import Dunlin

extension NetworkError {
    /// What AFNetworking tells a user of such an error, where it has words of its own; `reason` elsewhere.
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
    /// Without its parameters.
    fileprivate var contentType: String? {
        fields["content-type"].map { $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased() }
    }
}
