/// The body as it is, whatever its type.
public struct BytesSerializer: ResponseSerializer {
    public init() {}

    public func serialize(_ response: HTTPSession.Response<Bytes>) -> Bytes {
        response.body
    }
}

extension ResponseSerializer where Self == BytesSerializer {
    public static var bytes: BytesSerializer { BytesSerializer() }
}
