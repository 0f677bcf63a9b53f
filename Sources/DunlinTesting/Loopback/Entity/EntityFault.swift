public import DunlinTypes

extension LoopbackServer {
    /// Something that goes wrong while an entity is served. Bytes are counted from the beginning of the response's
    /// body.
    public enum EntityFault: Sendable, Hashable {
        case none
        /// The connection is reset after this many bytes of the body.
        case reset(after: Int)
        /// The connection is closed after this many bytes, as if they were all.
        case short(after: Int)
        /// Nothing more comes after this many bytes.
        case stall(after: Int)
        /// The body comes in pieces of `size` bytes; for short bodies.
        case drip(size: Int, every: Duration = .zero)
        /// The whole body is sent, whatever range is requested.
        case rangeIgnored
        /// A 206 reply whose Content-Range, and bytes, begin this many bytes after the requested range.
        case rangeShifted(by: Int)
        /// A 206 reply with this Content-Range.
        case rangeSaid(String)
        /// The entity is another one from now on.
        case changed
        /// Another status, without a body.
        case status(HTTP.Status)
    }

    /// Serves an entity for every request to a target. The faults apply to the requests in order; after the last fault,
    /// nothing goes wrong.
    public func serve(_ entity: Entity, at target: String, faults: EntityFault...) {
        serve(entity, at: target, faults: faults)
    }

    public func serve(_ entity: Entity, at target: String, faults: [EntityFault]) {
        route(target) { attempt, request in
            let past = faults.prefix(attempt + 1)
            let current = past.contains(.changed) ? entity.changed : entity
            return current.reply(to: request, attempt < faults.count ? faults[attempt] : .none)
        }
    }
}

extension LoopbackServer.Entity {
    /// Returns a server's reply with a fault. `changed` works only with `serve`, which knows what came before.
    public func reply(to request: LoopbackServer.RecordedRequest, _ fault: LoopbackServer.EntityFault) -> Reply {
        let reply = reply(to: request)
        switch fault {
        case .none, .changed: return reply
        case .reset(let count): return reply.resetAfter(reply.headCount + count)
        case .short(let count): return reply.truncatedAfter(reply.headCount + count)
        case .stall(let count): return reply.stallingAfter(reply.headCount + count)
        case .drip(let size, let pause): return reply.dripping(size, every: pause)
        case .rangeIgnored: return whole
        case .rangeShifted(let count):
            guard case .part(let range) = LoopbackServer.ByteRange(request.fields["Range"], of: length) else {
                return reply
            }
            return part(min(range.lowerBound + count, range.upperBound - 1)..<range.upperBound)
        case .rangeSaid(let said):
            guard case .part(let range) = LoopbackServer.ByteRange(request.fields["Range"], of: length) else {
                return reply
            }
            return part(range, said: said)
        case .status(let status): return .response(status)
        }
    }

    public typealias Reply = LoopbackServer.Reply
}

extension LoopbackServer.Reply {
    /// The number of bytes before the body.
    fileprivate var headCount: Int {
        guard case .message(let message)? = steps.first else { return 0 }
        return message.bytes.count - message.body.count
    }
}
