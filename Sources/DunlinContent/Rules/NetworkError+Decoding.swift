extension NetworkError {
    /// Creates the error for a value that could not be decoded.
    package init(decoding error: DecodingError) {
        let reason =
            switch error {
            case .keyNotFound(_, let context), .valueNotFound(_, let context), .typeMismatch(_, let context),
                .dataCorrupted(let context):
                context.underlyingError.map { "\(context.debugDescription): \($0)" } ?? context.debugDescription
            @unknown default: "\(error)"
            }
        self.init(.decodingFailed, reason, phase: .receive, requestMayHaveBeenSent: true, underlying: error)
    }

    /// Creates the error for a value that could not be decoded from a response.
    package init(decoding error: DecodingError, of response: HTTP.WholeResponse) {
        self.init(decoding: error)
        self.response = response.head
        body = response.body.beginning(upTo: NetworkError.keptBody)
    }
}
