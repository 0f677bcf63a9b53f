package import DunlinTypes

/// Interprets a proxy's answers to CONNECT (RFC 9110 §9.3.6), head by head.
///
/// Rules:
/// 1. A 2xx opens the tunnel, which begins directly after the head: Content-Length and Transfer-Encoding are ignored.
/// 2. Bytes of the tunnel that came with that head are the origin's. With TLS inside they are passed on, because TLS
///    itself refuses bytes out of order. In clear text they are an error, since they would be taken for the answer to a
///    request that has not been sent.
/// 3. Interim heads are skipped, up to a limit. A 101 is an error.
/// 4. A 407 asks for credentials. Its fields say where its body ends, and whether the next CONNECT may follow on this
///    connection. After a number of challenges it counts as a refusal, whatever answers them.
/// 5. Everything else is a refusal, even 3xx, since its source is uncertain. None of its fields and bytes count as the
///    origin's.
///
/// One machine serves one tunnel, over as many connections as its 407s require. It must not know what answers a
/// challenge, and reads no bytes, which a `HeadParser` does.
package struct ConnectMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// An interim head; the next one follows.
        case readOn
        /// The connection is the origin's from here on, and so are the bytes after the head.
        case tunnel
        /// Read the body by this framing or close; then send another CONNECT with an answer, on this or another
        /// connection.
        case answer(MessageFraming)
        /// Fail with this status, and as much of the body as may be shown.
        case refuse(HTTP.Status, MessageFraming)
        case fail(ConnectError)
    }

    /// The number of interim heads before one answer, and of challenges for one tunnel.
    private static let interimLimit = 16
    private static let challengeLimit = 5

    private let isTLSInside: Bool
    private var interimCount = 0
    private var challengeCount = 0

    package init(isTLSInside: Bool) {
        self.isTLSInside = isTLSInside
    }

    /// The action for a head that is followed by this many bytes.
    package mutating func receive(_ parsed: ParsedHead, following: Int) -> Action {
        let status = parsed.head.status
        if parsed.isInterim {
            interimCount += 1
            return interimCount > Self.interimLimit ? .fail(.tooManyInterimResponses) : .readOn
        }
        interimCount = 0
        if status == .switchingProtocols { return .fail(.switchedProtocols) }
        if status.isSuccess { return isTLSInside || following == 0 ? .tunnel : .fail(.unaskedBytes) }
        do throws(WireError) {
            let framing = try parsed.framing(for: .connect)
            guard status == .proxyAuthenticationRequired else { return .refuse(status, framing) }
            challengeCount += 1
            return challengeCount > Self.challengeLimit ? .refuse(status, framing) : .answer(framing)
        } catch {
            return .fail(.malformed(status, error))
        }
    }
}

/// Why a proxy's answer to CONNECT is invalid.
package enum ConnectError: Error, Sendable, Hashable {
    case tooManyInterimResponses
    /// An unrequested 101.
    case switchedProtocols
    /// Bytes came in clear text from the origin before anything was sent to it.
    case unaskedBytes
    /// The end of the body is unknown.
    case malformed(HTTP.Status, WireError)
}

extension ConnectError: CustomStringConvertible {
    /// Half a sentence, for a larger one.
    package var description: String {
        switch self {
        case .tooManyInterimResponses: "the proxy sent too many interim responses and no answer"
        case .switchedProtocols: "the proxy answered CONNECT with 101, without being asked to switch protocols"
        case .unaskedBytes: "bytes came through the proxy before anything was sent to the origin"
        case .malformed(let status, let error): "the proxy's answer \(status) is malformed: \(error)"
        }
    }
}
