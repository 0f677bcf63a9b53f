#if ServiceLifecycle
    public import Dunlin
    public import ServiceLifecycle

    /// A session as a service: it runs until its group shuts down, and then ends its requests.
    ///
    /// ```swift
    /// let group = ServiceGroup(services: [client, server], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await group.run()
    /// ```
    ///
    /// A group shuts its services down in the opposite order, so the session comes before the services that use it.
    extension HTTPSession: Service {
        /// Waits for a graceful shutdown, then accepts no more requests, and gives running ones up to ten seconds to
        /// end.
        ///
        /// The session can be used before, with or without this call. If the task is cancelled, before or during the
        /// shutdown, all requests are cancelled at once. Throws `CancellationError` if it was cancelled before.
        public func run() async throws { try await run(grace: .seconds(10)) }

        /// A service that gives requests another time to end, when its group shuts down:
        /// `services: [client.service(grace: .seconds(30)), server]`.
        ///
        /// A group's `maximumGracefulShutdownDuration` is for all of its services, and should be longer.
        public func service(grace: Duration) -> some Service { GracefulSession(session: self, grace: grace) }

        fileprivate func run(grace: Duration) async throws {
            do {
                try await gracefulShutdown()
            } catch {
                // The task is cancelled, so this cancels all requests and does not wait.
                await shutdown()
                throw error
            }
            await shutdown(grace: grace)
        }
    }

    /// A session that gives its requests a time of their own.
    private struct GracefulSession: Service {
        let session: HTTPSession
        let grace: Duration

        func run() async throws { try await session.run(grace: grace) }
    }
#endif
