package import DunlinTypes

/// A request as it was sent or will be sent, kept for writing it as a command.
///
/// It retains nothing of its session, and of a body only what a command may show. It prints nothing by itself, because
/// the target and the body may contain secrets.
package final class RequestRecord: NetworkError.CommandSource {
    /// What is recorded before there is a record.
    package struct Source: Sendable {
        package var head: RequestHead
        package var body: RequestBody
        package var total: Duration?

        package init(head: RequestHead, body: RequestBody, total: Duration? = nil) {
            (self.head, self.body, self.total) = (head, body, total)
        }
    }

    /// What a command can contain of a body.
    enum Body: Sendable {
        case none
        case bytes(Bytes)
        case longBytes(Int)
        case file(RequestBody.File)
        case stream(length: Int?, isReplayable: Bool)
    }

    let head: RequestHead
    let body: Body
    let hasTrailers: Bool
    /// The total limit of the call.
    let total: Duration?
    package let settings: CurlSettings

    /// The length up to which a body is included: shells accept hardly longer words, and nobody would read it.
    static let longestBody = 64 * 1024

    package init(_ source: Source, _ settings: CurlSettings) {
        head = source.head
        total = source.total
        hasTrailers = source.body.trailers != nil
        self.settings = settings
        switch source.body.content {
        case .none: body = .none
        case .bytes(let bytes) where bytes.count > Self.longestBody: body = .longBytes(bytes.count)
        case .bytes(let bytes): body = .bytes(bytes)
        case .file(let file): body = .file(file)
        case .stream(let length, let isReplayable, _): body = .stream(length: length, isReplayable: isReplayable)
        }
    }

    package func curl(showingSecrets: Bool) -> String {
        CurlCommand(self, showingSecrets: showingSecrets).text
    }
}

extension RequestRecord: CustomStringConvertible, CustomReflectable {
    package var description: String { "RequestRecord" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension RequestRecord.Source {
    package init(_ request: TransportRequest) {
        self.init(head: request.head, body: request.body, total: request.timeouts.total)
    }
}
