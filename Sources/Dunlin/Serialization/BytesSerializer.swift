/// The body as it is, whatever its type.
public struct BytesSerializer: ResponseSerializer {
    @inlinable public init() {}

    @inlinable public func serialize(_ response: HTTPSession.Response<Bytes>) -> Bytes {
        response.body
    }
}

extension ResponseSerializer where Self == BytesSerializer {
    @inlinable public static var bytes: BytesSerializer { BytesSerializer() }
}
