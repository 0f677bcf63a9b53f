/// Makes a value of a response. A value itself, and shared by any number of requests.
///
/// Runs where the caller of the request runs, after the response has arrived; `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// Throws if the response may not be serialized at all. The default refuses a status other than 2xx and a content
    /// type that `accepts` refuses.
    func validate(_ response: HTTPSession.Response<Bytes>) throws

    /// Whether a body of this content type (without parameters, lower case) can be made a value of.
    func accepts(contentType: String) -> Bool

    /// What `accepts` takes, for the error message; empty if it takes everything and need not be asked.
    var acceptableContentTypes: [String] { get }

    /// What to ask the server for, unless the request says so itself.
    var accept: String? { get }

    func serialize(_ response: HTTPSession.Response<Bytes>) throws -> Output
}

extension ResponseSerializer {
    public var acceptableContentTypes: [String] { [] }

    public var accept: String? { nil }

    public func accepts(contentType: String) -> Bool {
        acceptableContentTypes.contains(contentType)
    }

    public func validate(_ response: HTTPSession.Response<Bytes>) throws {
        guard response.status.isSuccess else {
            throw refusal(.unacceptableStatus, "the server answered \(response.status)", response)
        }
        let acceptable = acceptableContentTypes
        guard !acceptable.isEmpty, !response.body.isEmpty, let declared = response.fields["content-type"]
        else { return }
        let type = declared.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard accepts(contentType: type) else {
            let wanted = acceptable.joined(separator: ", ")
            throw refusal(.unacceptableContentType, "the content is \(type), expected one of \(wanted)", response)
        }
    }

    /// The most of a refused body that an error carries.
    static var keptBody: Int { 64 * 1024 }

    private func refusal(
        _ code: NetworkError.Code, _ reason: String, _ response: HTTPSession.Response<Bytes>
    ) -> NetworkError {
        NetworkError(
            code, reason, requestMayHaveBeenSent: true, response: response.head,
            body: response.body[0..<min(response.body.count, Self.keptBody)])
    }
}
