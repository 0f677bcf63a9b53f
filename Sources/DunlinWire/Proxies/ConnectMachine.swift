package import DunlinTypes

/// What a proxy's answers to CONNECT mean (RFC 9110 §9.3.6), head by head.
///
/// Rules:
/// 1. A 2xx opens the tunnel, which begins right behind the head: Content-Length and Transfer-Encoding mean nothing
///    there.
/// 2. Bytes of the tunnel that came with that head are the origin's. With TLS inside they are handed on, because TLS
///    itself refuses what comes out of turn. In clear text they would be taken for the answer to a request that nobody
///    has sent yet: then they are an error.
/// 3. Interim heads are passed over, up to a limit. A 101 is an answer to something else.
/// 4. A 407 asks for credentials. Its own fields say where its body ends, and whether the next CONNECT may follow on
///    this connection. A proxy that asks again and again is refused in the end, whatever answers its challenges.
/// 5. All else refuses: 3xx too, since nobody knows who it speaks for. No field and no byte of it is the origin's.
///
/// One machine is for one tunnel, over as many connections as its 407s take. It must not know what answers a
/// challenge, nor read bytes: a `HeadParser` does.
package struct ConnectMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// An interim head: the next one follows.
        case readOn
        /// The connection is the origin's from here on, and so are the bytes behind the head.
        case tunnel
        /// Read the body by this framing or close; then send another CONNECT with an answer, here or elsewhere.
        case answer(MessageFraming)
        /// Fail with this status, and as much of the body as may be shown.
        case refuse(HTTP.Status, MessageFraming)
        case fail(ConnectError)
    }

    /// How many interim heads may come before one answer, and how many challenges for one tunnel.
    private static let interimLimit = 16
    private static let challengeLimit = 5

    private let isTLSInside: Bool
    private var interimCount = 0
    private var challengeCount = 0

    package init(isTLSInside: Bool) {
        self.isTLSInside = isTLSInside
    }

    /// A head came, and so many bytes behind it.
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

/// Why a proxy's answer to CONNECT is none.
package enum ConnectError: Error, Sendable, Hashable {
    case tooManyInterimResponses
    /// A 101, which nobody had asked for.
    case switchedProtocols
    /// Bytes of the origin before anything was sent to it, in clear text.
    case unaskedBytes
    /// Nobody knows where the body ends.
    case malformed(HTTP.Status, WireError)
}

extension ConnectError: CustomStringConvertible {
    /// Half a sentence.
    package var description: String {
        switch self {
        case .tooManyInterimResponses: "the proxy sent too many interim responses and no answer"
        case .switchedProtocols: "the proxy answered CONNECT with 101, without being asked to switch protocols"
        case .unaskedBytes: "bytes came through the proxy before anything was sent to the origin"
        case .malformed(let status, let error): "the proxy's answer \(status) is malformed: \(error)"
        }
    }
}
