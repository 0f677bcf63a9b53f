/// A status code (RFC 9110 §15): three digits, known or not.
public struct Status: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    public let code: UInt16

    @inlinable public init(_ code: UInt16) {
        self.code = code
    }

    @inlinable public init(integerLiteral code: UInt16) {
        self.code = code
    }

    @inlinable public static func < (left: Status, right: Status) -> Bool { left.code < right.code }

    @inlinable public var isInformational: Bool { code / 100 == 1 }
    @inlinable public var isSuccess: Bool { code / 100 == 2 }
    @inlinable public var isRedirection: Bool { code / 100 == 3 }
    @inlinable public var isClientError: Bool { code / 100 == 4 }
    @inlinable public var isServerError: Bool { code / 100 == 5 }

    public var description: String { String(code) }

    public static let `continue`: Status = 100
    public static let switchingProtocols: Status = 101
    public static let earlyHints: Status = 103
    public static let ok: Status = 200
    public static let created: Status = 201
    public static let accepted: Status = 202
    public static let noContent: Status = 204
    public static let resetContent: Status = 205
    public static let partialContent: Status = 206
    public static let movedPermanently: Status = 301
    public static let found: Status = 302
    public static let seeOther: Status = 303
    public static let notModified: Status = 304
    public static let temporaryRedirect: Status = 307
    public static let permanentRedirect: Status = 308
    public static let badRequest: Status = 400
    public static let unauthorized: Status = 401
    public static let forbidden: Status = 403
    public static let notFound: Status = 404
    public static let conflict: Status = 409
    public static let expectationFailed: Status = 417
    public static let tooManyRequests: Status = 429
    public static let internalServerError: Status = 500
    public static let badGateway: Status = 502
    public static let serviceUnavailable: Status = 503
    public static let gatewayTimeout: Status = 504
}
