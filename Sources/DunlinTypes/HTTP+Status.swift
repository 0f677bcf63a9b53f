extension HTTP {
    /// A status code (RFC 9110 §15): three digits, known or unknown.
    public struct Status: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        public let code: Int

        @inlinable public init(_ code: Int) {
            self.code = code
        }

        @inlinable public init(integerLiteral code: Int) {
            self.code = code
        }

        @inlinable public static func < (left: HTTP.Status, right: HTTP.Status) -> Bool { left.code < right.code }

        @inlinable public var isInformational: Bool { code / 100 == 1 }
        @inlinable public var isSuccess: Bool { code / 100 == 2 }
        @inlinable public var isRedirection: Bool { code / 100 == 3 }
        @inlinable public var isClientError: Bool { code / 100 == 4 }
        @inlinable public var isServerError: Bool { code / 100 == 5 }

        public var description: String { String(code) }

        public static let `continue`: HTTP.Status = 100
        public static let switchingProtocols: HTTP.Status = 101
        public static let earlyHints: HTTP.Status = 103
        public static let ok: HTTP.Status = 200
        public static let created: HTTP.Status = 201
        public static let accepted: HTTP.Status = 202
        public static let noContent: HTTP.Status = 204
        public static let resetContent: HTTP.Status = 205
        public static let partialContent: HTTP.Status = 206
        public static let movedPermanently: HTTP.Status = 301
        public static let found: HTTP.Status = 302
        public static let seeOther: HTTP.Status = 303
        public static let notModified: HTTP.Status = 304
        public static let temporaryRedirect: HTTP.Status = 307
        public static let permanentRedirect: HTTP.Status = 308
        public static let badRequest: HTTP.Status = 400
        public static let unauthorized: HTTP.Status = 401
        public static let forbidden: HTTP.Status = 403
        public static let notFound: HTTP.Status = 404
        public static let methodNotAllowed: HTTP.Status = 405
        public static let notAcceptable: HTTP.Status = 406
        public static let proxyAuthenticationRequired: HTTP.Status = 407
        public static let requestTimeout: HTTP.Status = 408
        public static let conflict: HTTP.Status = 409
        public static let gone: HTTP.Status = 410
        public static let lengthRequired: HTTP.Status = 411
        public static let preconditionFailed: HTTP.Status = 412
        public static let contentTooLarge: HTTP.Status = 413
        public static let unsupportedMediaType: HTTP.Status = 415
        public static let rangeNotSatisfiable: HTTP.Status = 416
        public static let expectationFailed: HTTP.Status = 417
        public static let misdirectedRequest: HTTP.Status = 421
        public static let unprocessableContent: HTTP.Status = 422
        public static let locked: HTTP.Status = 423
        public static let tooEarly: HTTP.Status = 425
        public static let upgradeRequired: HTTP.Status = 426
        public static let preconditionRequired: HTTP.Status = 428
        public static let tooManyRequests: HTTP.Status = 429
        public static let fieldsTooLarge: HTTP.Status = 431
        public static let unavailableForLegalReasons: HTTP.Status = 451
        public static let internalServerError: HTTP.Status = 500
        public static let notImplemented: HTTP.Status = 501
        public static let badGateway: HTTP.Status = 502
        public static let serviceUnavailable: HTTP.Status = 503
        public static let gatewayTimeout: HTTP.Status = 504
    }
}
