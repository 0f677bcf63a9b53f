public import Dunlin
internal import DunlinReactor
internal import DunlinSecure

extension NetworkError {
    public var foundationCode: FoundationCode {
        detailedCode ?? Self.foundationCodes[code] ?? .unknown
    }

    /// The codes for errors determined by their code alone. A mistake in a program's own settings has no number: code
    /// that compares numbers would retry or show it, and neither helps.
    private static let foundationCodes: [Code: FoundationCode] = [
        .invalidRequest: .badURL, .invalidParameters: .invalidParameters, .invalidPart: .unreachableFile,
        .unsupportedScheme: .unsupportedURL, .nameNotResolved: .cannotFindHost,
        .connectionFailed: .cannotConnectToHost, .interfaceRefused: .dataNotAllowed,
        .guardRefused: .cannotConnectToHost, .proxyFailed: .cannotConnectToHost,
        .proxyAuthenticationFailed: .userAuthenticationRequired,
        .connectionClosed: .connectionLost,
        .invalidResponse: .badServerResponse, .upgradeRefused: .badServerResponse,
        .webSocketFailed: .badServerResponse, .errorEvent: .badServerResponse,
        .invalidContent: .cannotDecodeRawData,
        .limitExceeded: .dataLengthExceedsMaximum, .poolExhausted: .cannotConnectToHost,
        .queueFull: .cannotConnectToHost, .rateLimited: .cannotConnectToHost, .circuitOpen: .cannotConnectToHost,
        .timedOut: .timedOut,
        .cancelled: .cancelled, .unacceptableStatus: .unacceptableStatus,
        .unacceptableContentType: .unacceptableContentType, .noContent: .zeroByteResource,
        .unreadableContent: .cannotDecodeContentData, .decodingFailed: .cannotDecodeContentData,
        .bodyConsumed: .requestBodyStreamExhausted,
        .bodyLengthMismatch: .requestBodyStreamExhausted, .bodyNotReplayable: .requestBodyStreamExhausted,
        .fileUnreadable: .noPermissionsToReadFile, .fileNotCreated: .cannotCreateFile,
        .fileNotWritten: .cannotWriteToFile, .fileNotMoved: .cannotMoveFile,
        .digestMismatch: .cannotDecodeContentData, .secureConnectionFailed: .secureConnectionFailed,
        .serverTrustFailed: .serverCertificateUntrusted, .clearTextRefused: .clearTextRefused,
        .unusableCredential: .userAuthenticationRequired, .authenticationFailed: .userAuthenticationRequired,
        .tooManyRedirects: .tooManyRedirects, .sentTooOften: .tooManyRedirects,
        .redirectLoop: .tooManyRedirects, .invalidRedirect: .redirectToNonExistentLocation,
        .insecureRedirect: .clearTextRefused, .invalidConfiguration: .unknown, .sessionShutDown: .unknown,
        .insecurePinningConfiguration: .unknown, .notCached: .resourceUnavailable, .interceptorFailed: .unknown,
        .invalidResumeData: .cannotDecodeRawData, .cacheUnreadable: .cannotDecodeRawData,
        // From DunlinImages and DunlinRecording, which need not be present.
        Code("imageDecodingFailed"): .cannotDecodeContentData, Code("notRecorded"): .resourceUnavailable,
    ]

    /// A more specific code from the underlying error; nil for none.
    private var detailedCode: FoundationCode? {
        switch underlying {
        case let failures as NetworkError.ConnectionFailures where code == .connectionFailed: failures.foundationCode
        case let errno as Errno where code == .fileUnreadable: errno.codeOfFile
        case let error as TLSError where code == .secureConnectionFailed: error.foundationCode
        default: nil
        }
    }
}

extension NetworkError.FoundationCode {
    /// Creates the code for any error of a request; nil for one that is not Dunlin's.
    public init?(of error: any Error) {
        switch error {
        case let error as NetworkError: self = error.foundationCode
        case is CancellationError: self = .cancelled
        case is HTTPSession.ServerTrustFailure, is NetworkError.TrustRefusal: self = .serverCertificateUntrusted
        case let error as TLSError: self = error.foundationCode
        case let error as Errno: self.init(NetworkError.Domain.posix, Int(error.rawValue))
        default: return nil
        }
    }
}

extension NetworkError.ConnectionFailures {
    /// The code if there is no network to any of the addresses, which is not the host's fault.
    fileprivate var foundationCode: NetworkError.FoundationCode? {
        let isOffline = !failures.isEmpty && failures.allSatisfy { Errno(rawValue: $0.errno).meansNoNetwork }
        return isOffline ? .notConnected : nil
    }
}

extension Errno {
    fileprivate var codeOfFile: NetworkError.FoundationCode? {
        if meansNoSuchFile { return .fileDoesNotExist }
        return meansDirectory ? .fileIsDirectory : nil
    }
}

extension TLSError {
    fileprivate var foundationCode: NetworkError.FoundationCode {
        switch self {
        case .untrusted: .serverCertificateUntrusted
        case .clientCertificateRequired: .clientCertificateRequired
        // A server's alert about certificates is about ours (RFC 8446 §6.2).
        case .alert(let alert) where (42...46).contains(alert.code) || [48, 49].contains(alert.code):
            .clientCertificateRejected
        case .alert(let alert) where [41, 116].contains(alert.code): .clientCertificateRequired
        default: .secureConnectionFailed
        }
    }
}
