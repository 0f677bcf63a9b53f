public import Dunlin

extension NetworkError {
    /// The error domain and number that URLSession and AFNetworking use for an error.
    ///
    /// For code that comes from there and compares numbers:
    ///
    /// ```swift
    /// if error.foundationCode == .timedOut { … }
    /// ```
    ///
    /// `code`, `phase` and `underlying` say more; several of our codes share a number.
    public struct FoundationCode: Sendable, Hashable, CustomStringConvertible {
        public var domain: String
        public var code: Int

        public init(_ domain: String, _ code: Int) {
            self.domain = domain
            self.code = code
        }

        public var description: String { "\(domain) \(code)" }
    }

    /// The error domains.
    public enum Domain {
        public static let url = "NSURLErrorDomain"
        public static let posix = "NSPOSIXErrorDomain"
        /// AFNetworking's domain for requests that could not be made.
        public static let requestSerialization = "com.alamofire.error.serialization.request"
        /// AFNetworking's domain for responses that were not accepted.
        public static let responseSerialization = "com.alamofire.error.serialization.response"
    }

    /// The keys for an error's details in an NSError's `userInfo`.
    public enum UserInfoKey {
        public static let localizedDescription = "NSLocalizedDescription"
        /// The URL.
        public static let failingURL = "NSErrorFailingURLKey"
        public static let failingURLString = "NSErrorFailingURLStringKey"
        /// What an untrusted server presented.
        public static let peerTrust = "NSURLErrorFailingURLPeerTrustErrorKey"
        public static let underlyingError = "NSUnderlyingError"
        /// All of several underlying errors, in order of occurrence.
        public static let underlyingErrors = "NSMultipleUnderlyingErrorsKey"
        /// The response that was not accepted.
        public static let response = "com.alamofire.serialization.response.error.response"
        /// The body of that response.
        public static let responseData = "com.alamofire.serialization.response.error.data"
        /// Declared by AFNetworking and never set, neither there nor here.
        public static let requestResponse = "com.alamofire.serialization.request.error.response"
    }
}

extension NetworkError.FoundationCode {
    private init(url code: Int) {
        self.init(NetworkError.Domain.url, code)
    }

    public static let unknown = Self(url: -1)
    public static let cancelled = Self(url: -999)
    public static let badURL = Self(url: -1000)
    public static let timedOut = Self(url: -1001)
    public static let unsupportedURL = Self(url: -1002)
    public static let cannotFindHost = Self(url: -1003)
    public static let cannotConnectToHost = Self(url: -1004)
    public static let connectionLost = Self(url: -1005)
    public static let tooManyRedirects = Self(url: -1007)
    public static let resourceUnavailable = Self(url: -1008)
    public static let notConnected = Self(url: -1009)
    public static let redirectToNonExistentLocation = Self(url: -1010)
    public static let badServerResponse = Self(url: -1011)
    public static let userAuthenticationRequired = Self(url: -1013)
    public static let zeroByteResource = Self(url: -1014)
    public static let cannotDecodeRawData = Self(url: -1015)
    public static let cannotDecodeContentData = Self(url: -1016)
    public static let dataNotAllowed = Self(url: -1020)
    public static let requestBodyStreamExhausted = Self(url: -1021)
    public static let clearTextRefused = Self(url: -1022)
    public static let fileDoesNotExist = Self(url: -1100)
    public static let fileIsDirectory = Self(url: -1101)
    public static let noPermissionsToReadFile = Self(url: -1102)
    public static let dataLengthExceedsMaximum = Self(url: -1103)
    public static let secureConnectionFailed = Self(url: -1200)
    public static let serverCertificateUntrusted = Self(url: HTTPSession.ServerTrustFailure.urlErrorCode)
    public static let clientCertificateRejected = Self(url: -1205)
    public static let clientCertificateRequired = Self(url: -1206)
    public static let cannotCreateFile = Self(url: -3000)
    public static let cannotWriteToFile = Self(url: -3003)
    public static let cannotMoveFile = Self(url: -3005)
    /// AFNetworking's "The `parameters` argument is not valid JSON."
    public static let invalidParameters = Self(NetworkError.Domain.requestSerialization, -1016)
    /// AFNetworking's "File URL not reachable."
    public static let unreachableFile = Self(NetworkError.Domain.requestSerialization, -1000)
    public static let unacceptableStatus = Self(NetworkError.Domain.responseSerialization, -1011)
    public static let unacceptableContentType = Self(NetworkError.Domain.responseSerialization, -1016)
}
