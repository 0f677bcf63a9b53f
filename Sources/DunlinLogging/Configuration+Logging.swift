#if Logging
    public import Dunlin
    public import Logging

    extension HTTPSession.Configuration {
        /// Logs one line for each request, when it ends:
        ///
        /// ```swift
        /// configuration.log(to: logger)
        /// configuration.log(to: logger) { $0.requestIDField = "X-Request-ID" }
        /// ```
        ///
        /// The logger and its level decide what is written. The metadata of `Logger.current`, in the task that makes
        /// the request, is added to that of the logger, and so is what the metadata providers of both say in that task;
        /// a task without a logger of its own adds nothing. The line's own keys, `HTTPSession.LogKey`, win over both.
        ///
        /// No line has a value of a query, field, cookie, body, label or tag, a user or a password, or the text of an
        /// error. The logger's handler is called synchronously, by the thread on which the request ends, so it must not
        /// block.
        public mutating func log(
            to logger: Logger, _ change: (inout HTTPSession.LogSettings) -> Void = { _ in }
        ) {
            var settings = HTTPSession.LogSettings()
            change(&settings)
            if let name = settings.requestIDField, !RequestID.isUsableField(name, secretFields) {
                let shown = LogText.visible(name, upTo: 64)
                logger.warning(
                    """
                    requestIDField is "\(shown)"; it must be a field name of 1 to 64 bytes, and not that of a secret \
                    field, so no request id is sent
                    """)
                settings.requestIDField = nil
            }
            observers.append(SessionLog(logger, settings))
        }
    }
#endif
