internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// The end of HTTP on a connection: a 101 that answers what the request offered.
extension Exchange {
    /// Hands the connection over to the protocol that the server has switched to. Any other such answer is an error,
    /// which closes the connection: one that nobody asked for, one that is not valid, and one that came before the
    /// request had been sent.
    consuming func switchProtocols(_ answer: consuming Answer) throws -> TransportResponse {
        try context.checkUpgrade(to: answer.head, hop)
        guard !answer.requestWasCut, answer.upload?.isComplete ?? true else {
            let reason = "the server switched protocols before it had the request"
            throw context.error(.invalidResponse, reason, in: .receive, hop)
        }
        let (context, hop, mayHaveMore) = (context, hop, reader.mayHaveMore)
        context.cancellation.phase = .receive
        // The connection may stay open for days, and the buffer of a read must not be kept for its head alone.
        let rest = answer.rest.isEmpty ? Bytes.empty : answer.rest
        var head = answer.head
        head.fields = head.fields.detached()
        let stream = UpgradedStream(lease, context.upgraded(), unread: rest, mayHaveMore: mayHaveMore, after: hop)
        return TransportResponse(
            head: head, interim: answer.interim, body: .stream(stream), hop: hop, answering: context.request)
    }
}

extension ExchangeContext {
    /// Throws unless this head is a 101 that the request has asked for.
    func checkUpgrade(to head: ResponseHead, _ hop: HTTP.Hop) throws {
        do throws(UpgradeError) {
            guard upgrade != nil, head.status == .switchingProtocols, let offer = UpgradeOffer(in: request.head.fields)
            else { throw .notAsked }
            _ = try offer.accepted(by: head)
        } catch {
            throw self.error(.invalidResponse, "\(error)", in: .receive, hop, cause: error)
        }
    }
}
