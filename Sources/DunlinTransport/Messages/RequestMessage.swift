internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A request as it is sent: the encoded head with a small body, or how to send a larger body.
///
/// It is made before a connection is used, so an invalid request is refused before anything is sent.
struct RequestMessage {
    /// A body up to this size is sent in one write with its head.
    static let smallBody = 16 * 1024

    let opening: Bytes
    /// The body to send separately; nil if everything is in the opening.
    let body: Body?
    let asksToClose: Bool

    /// What is needed to send a body separately from its head.
    struct Body {
        let file: FileSource?
        let uploads: UploadScope?
        /// Whether the body waits for the server's consent.
        let expectsContinue: Bool
    }

    /// Creates a message; `file` is the body's file, if it is one.
    init(of context: ExchangeContext, _ file: FileSource?, _ uploads: UploadScope?) throws {
        let proxied = context.mayHaveProxy ? try Self.proxied(context) : nil
        do throws(WireError) {
            try self.init(context.request, proxied, file, uploads, mayUpgrade: context.upgrade != nil)
        } catch {
            let reason = "the request cannot be sent"
            throw context.error(.invalidRequest, reason, in: .send, context.hop, cause: error)
        }
    }

    /// Creates a message; `proxied` is the head that replaces the request's own.
    private init(
        _ request: TransportRequest, _ proxied: RequestHead?, _ file: FileSource?, _ uploads: UploadScope?,
        mayUpgrade: Bool
    ) throws(WireError) {
        var opening: [UInt8] = []
        let framing = try Self.framing(of: request.body, file)
        let room = min(framing.length, Self.smallBody)
        let traits =
            if let proxied {
                try RequestEncoder.encode(
                    proxied, framing: framing, into: &opening, room: room, mayUpgrade: mayUpgrade)
            } else {
                try RequestEncoder.encode(
                    request.head, framing: framing, into: &opening, room: room, mayUpgrade: mayUpgrade)
            }
        var body: Body?
        if UploadScope.isNeeded(for: request.body) || (traits.expectsContinue && framing.hasContent) {
            body = Body(file: file, uploads: uploads, expectsContinue: traits.expectsContinue)
        } else if case .bytes(let bytes) = request.body.content {
            bytes.withUnsafeBytes { opening.append(contentsOf: $0) }
        }
        self.opening = Bytes(opening)
        self.body = body
        asksToClose = traits.asksToClose
    }

    /// The head for a proxy that forwards it, or for the way through one that does not read it; nil for the request's
    /// own.
    private static func proxied(_ context: ExchangeContext) throws -> RequestHead? {
        if context.isForwarded { return try absolute(context, context.proxyAuthorization) }
        var head = context.request.head
        guard ProxiedRequest.hasOwn(head.fields) else { return nil }
        head.fields = ProxiedRequest.forOrigin(head.fields)
        return head
    }

    /// The head in absolute form.
    static func absolute(_ context: ExchangeContext, _ authorization: String?) throws -> RequestHead {
        do throws(ProxiedRequest.Problem) {
            return try ProxiedRequest.absolute(context.request.head, authorization: authorization)
        } catch {
            let reason = "the request cannot be sent to a proxy: \(error)"
            throw context.error(.invalidRequest, reason, in: .send, context.hop, cause: error)
        }
    }

    private static func framing(of body: RequestBody, _ file: FileSource?) throws(WireError) -> RequestFraming {
        if let trailers = body.trailers {
            // Their names are known already.
            var (named, scratch) = (Fields(), [UInt8]())
            for name in trailers.names { named.append(name: name, value: "") }
            try ChunkEncoder.appendEnd(trailers: named, into: &scratch)
            return .chunked
        }
        switch body.content {
        case .none: return .none
        case .bytes(let bytes): return .length(bytes.count)
        case .file: return .length(file?.range.count ?? 0)
        case .stream(let length?, _, _): return .length(length)
        case .stream(nil, _, _): return .chunked
        }
    }
}

extension RequestFraming {
    /// The length; zero if it is not known.
    fileprivate var length: Int { if case .length(let length) = self { length } else { 0 } }

    fileprivate var hasContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
