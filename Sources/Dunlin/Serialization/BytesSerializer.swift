/// The body as it is, whatever its type.
public struct BytesSerializer: AdjustableSerializer {
    /// Nil for the usual ones: most requests pay for no others.
    @usableFromInline var own: HTTPSession.ResponseRules?

    @inlinable public init() {
        own = nil
    }

    public var rules: HTTPSession.ResponseRules {
        get { own ?? .success }
        set { own = newValue }
    }

    @inlinable public func validate(_ response: HTTPSession.Response<Bytes>) throws {
        if own == nil, response.status.isSuccess { return }
        try rules.check(response)
    }

    @inlinable public func serialize(_ response: HTTPSession.Response<Bytes>) -> Bytes {
        response.body
    }
}

extension ResponseSerializer where Self == BytesSerializer {
    @inlinable public static var bytes: BytesSerializer { BytesSerializer() }
}
