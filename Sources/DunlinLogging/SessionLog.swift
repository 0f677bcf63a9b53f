#if Logging
    internal import Dunlin
    internal import Logging

    /// Logs the requests of a session. It takes from the task that makes a request what the lines about it say of that
    /// task.
    struct SessionLog: HTTPSession.Observer {
        private let logger: Logger
        private let settings: HTTPSession.LogSettings
        /// A logger above this level has no line to write.
        private let highest: Logger.Level?
        /// What the logger of a task has that has none of its own.
        private let unbound: Logger.Metadata

        init(_ logger: Logger, _ settings: HTTPSession.LogSettings) {
            (self.logger, self.settings, highest) = (logger, settings, settings.highest)
            unbound = Logger(label: "").handler.metadata
        }

        private var isLogged: Bool { highest.map { logger.logLevel <= $0 } ?? false }

        var isWatching: Bool { isLogged || settings.requestIDField != nil }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
            let isLogged = isLogged
            guard isLogged || settings.requestIDField != nil else { return nil }
            let current = Logger.current
            var metadata = taskMetadata(current)
            let id = settings.requestIDField.map { _ in
                RequestID.passedOn(in: metadata, under: settings.requestIDKeys) ?? RequestID.random()
            }
            guard isLogged else { return RequestLog(nil, settings, id: id, request) }
            // Providers read values of the task, which are not there when the request ends on another thread.
            let providers = [logger.metadataProvider, isBound(current) ? current.metadataProvider : nil]
            let said = providers.compactMap { $0?.get() } + [metadata]
            metadata = said.reduce(into: [:]) { all, more in all.merge(more) { _, new in new } }
            // A server's logger may say of the request that it answers what a line says of this one.
            metadata = metadata.filter { !HTTPSession.LogKey.names.contains($0.key) }
            return RequestLog((logger, metadata), settings, id: id, request)
        }

        /// The metadata of the task's own logger; what the process's says is left out.
        private func taskMetadata(_ current: Logger) -> Logger.Metadata {
            let metadata = current.handler.metadata
            return isBound(current) || unbound.isEmpty ? metadata : metadata.filter { unbound[$0.key] != $0.value }
        }

        /// Whether the task has a logger of its own. Otherwise it has the process's, without a label, which says
        /// nothing of the task, unless metadata was merged into it.
        private func isBound(_ logger: Logger) -> Bool { !logger.label.isEmpty }
    }
#endif
