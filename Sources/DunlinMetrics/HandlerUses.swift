#if Metrics
    internal import CoreMetrics
    internal import Synchronization

    /// How many stores keep each handler.
    ///
    /// A factory gives the same handler to whoever asks for the same labels, and two stores may have the same factory.
    /// A handler is destroyed when the last store discards it.
    ///
    /// Handlers are made and destroyed outside the lock. So one that a factory gives while it is being destroyed, or
    /// gave before, is not kept: it is asked for again.
    struct HandlerUses: Sendable {
        private static let all = Mutex(HandlerUses())

        private var counts: [ObjectIdentifier: Int] = [:]
        /// Those that are being destroyed.
        private var leaving: Set<ObjectIdentifier> = []
        /// How many were destroyed.
        private var destroyed = 0

        private mutating func keep(_ id: ObjectIdentifier, madeAfter destroyed: Int) -> Bool {
            // One that others keep was not destroyed.
            guard counts[id] != nil || !leaving.contains(id) && destroyed == self.destroyed else { return false }
            counts[id, default: 0] += 1
            return true
        }

        /// Returns whether nobody keeps it any more.
        private mutating func giveUp(_ id: ObjectIdentifier) -> Bool {
            guard let count = counts[id], count <= 1 else {
                counts[id]? -= 1
                return false
            }
            counts[id] = nil
            return true
        }
    }

    extension HandlerUses {
        /// A handler that a store keeps from now on; nil if those that were made were destroyed at once by others.
        static func made(_ make: () -> Handler) -> Handler? {
            for _ in 0..<3 {
                let destroyed = all.withLock { $0.destroyed }
                let handler = make()
                if all.withLock({ $0.keep(handler.id, madeAfter: destroyed) }) { return handler }
            }
            return nil
        }

        /// Destroys a handler that a store keeps no longer, unless another does.
        static func discard(_ handler: Handler, by factory: any MetricsFactory) {
            let isLast = all.withLock { uses in
                let isLast = uses.giveUp(handler.id)
                if isLast { uses.leaving.insert(handler.id) }
                return isLast
            }
            guard isLast else { return }
            handler.destroy(by: factory)
            all.withLock { uses in
                uses.leaving.remove(handler.id)
                uses.destroyed += 1
            }
        }

        /// Notes that a store keeps a handler no longer, which stays.
        static func gaveUp(_ handler: Handler) {
            _ = all.withLock { $0.giveUp(handler.id) }
        }
    }
#endif
