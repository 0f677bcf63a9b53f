public import DunlinTypes

extension LoopbackServer {
    /// What goes wrong while an entity is served. Bytes are counted from the first of the response's own body.
    public enum EntityFault: Sendable, Hashable {
        case none
        /// The connection is reset after so many bytes of the body.
        case reset(after: Int)
        /// The connection is closed after so many, as if that were all.
        case short(after: Int)
        /// Nothing more comes after so many.
        case stall(after: Int)
        /// In pieces of `size` bytes; for short bodies.
        case drip(size: Int, every: Duration = .zero)
        /// The whole body, whatever is asked for.
        case rangeIgnored
        /// 206, with a Content-Range that begins so many bytes later than what was asked for, and those bytes.
        case rangeShifted(by: Int)
        /// 206, with a Content-Range that says this.
        case rangeSaid(String)
        /// It is another entity from now on.
        case changed
        /// Another status, without a body.
        case status(HTTP.Status)
    }

    /// Serves an entity to every request for a target. The faults belong to the requests, in order; when there are no
    /// more, nothing goes wrong.
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
    /// What a server says that something is wrong with. `changed` is for `serve`, which knows what came before.
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
    /// Bytes before those of the body.
    fileprivate var headCount: Int {
        guard case .message(let message)? = steps.first else { return 0 }
        return message.bytes.count - message.body.count
    }
}
