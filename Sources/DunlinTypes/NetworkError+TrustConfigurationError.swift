extension NetworkError {
    /// A problem in a trust configuration that makes it unusable.
    public enum TrustConfigurationError: Error, Sendable, Hashable {
        /// The system has no root store in the usual places.
        case noSystemRoots(lookedAt: [String])
        /// A file or folder cannot be read.
        case unreadable(String)
        /// A folder contains no certificate.
        case noCertificates(in: String)
        /// A certificate is invalid; `source` is its file, or says how it was given.
        case notACertificate(source: String, problem: String)
        /// A pin is neither `sha256/` with Base64 of 32 bytes nor a certificate.
        case notAPin(String)
        /// A pattern matches no host.
        case notAHostPattern(String)
        /// Some settings contradict each other, or something else is wrong that the text says.
        case contradiction(String)
    }
}

extension NetworkError.TrustConfigurationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSystemRoots(let paths):
            "the system has no root certificates in \(paths.joined(separator: ", ")); install the package "
                + "ca-certificates, or set `tls.roots`"
        case .unreadable(let path): "\(path) cannot be read: it is missing, or not readable by this process"
        case .noCertificates(let path): "\(path) holds no certificate"
        case .notACertificate(let source, let problem): "\(source) is not a certificate: \(problem)"
        case .notAPin(let text): "\"\(text)\" is not a pin; a pin is sha256/ and Base64 of 32 bytes"
        case .notAHostPattern(let text): "\"\(text)\" is not a host pattern, such as *.example.com"
        case .contradiction(let text): text
        }
    }
}
