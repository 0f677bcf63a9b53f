#if Metrics
    /// The labels of metrics.
    enum Label: String {
        case method = "http.request.method"
        case address = "server.address"
        case peer = "network.peer.address"
        case port = "server.port"
        case status = "http.response.status_code"
        case version = "network.protocol.version"
        case error = "error.type"
        case template = "url.template"
        case operation = "dunlin.operation"
        case connectionState = "http.connection.state"
        case phase = "dunlin.phase"
        case reason = "dunlin.reason"
        case cacheSource = "dunlin.cache.source"
        case cacheState = "dunlin.cache.state"
    }

    /// What is measured. Units are in the article's table.
    ///
    /// The time series of one metric always have the same labels in the same order.
    enum Instrument: UInt8, CaseIterable {
        case exchangeDuration, requestBodySize, responseBodySize, activeExchanges, openConnections, connectionDuration
        case callDuration, queueDuration, phaseDuration, retries, redirects, resends, joins, cacheHits,
            connectivityWaits, bytesSent, bytesReceived, droppedFields, endedConnections, connectionUses
        case openedConnections, reusedConnections, failedConnections, waitingRequests, runningRequests,
            queuedRequests

        var name: String {
            switch self {
            case .exchangeDuration: "http.client.request.duration"
            case .requestBodySize: "http.client.request.body.size"
            case .responseBodySize: "http.client.response.body.size"
            case .activeExchanges: "http.client.active_requests"
            case .openConnections: "http.client.open_connections"
            case .connectionDuration: "http.client.connection.duration"
            case .callDuration: "dunlin.client.request.duration"
            case .queueDuration: "dunlin.client.queue.duration"
            case .phaseDuration: "dunlin.client.phase.duration"
            case .retries: "dunlin.client.retries"
            case .redirects: "dunlin.client.redirects"
            case .resends: "dunlin.client.resends"
            case .joins: "dunlin.client.joins"
            case .cacheHits: "dunlin.client.cache.hits"
            case .connectivityWaits: "dunlin.client.connectivity.waits"
            case .bytesSent: "dunlin.client.bytes.sent"
            case .bytesReceived: "dunlin.client.bytes.received"
            case .droppedFields: "dunlin.client.fields.dropped"
            case .endedConnections: "dunlin.client.connections.ended"
            case .connectionUses: "dunlin.client.connection.uses"
            case .openedConnections: "dunlin.client.connections.opened"
            case .reusedConnections: "dunlin.client.connections.reused"
            case .failedConnections: "dunlin.client.connections.failed"
            case .waitingRequests: "dunlin.client.connections.waiting"
            case .runningRequests: "dunlin.client.requests.running"
            case .queuedRequests: "dunlin.client.requests.queued"
            }
        }

        enum Kind {
            case timer, recorder, counter, meter
        }

        var kind: Kind {
            switch self {
            case .exchangeDuration, .connectionDuration, .callDuration, .queueDuration, .phaseDuration: .timer
            case .requestBodySize, .responseBodySize, .connectionUses: .recorder
            case .activeExchanges, .openConnections, .waitingRequests, .runningRequests, .queuedRequests: .meter
            case .retries, .redirects, .resends, .joins, .cacheHits, .connectivityWaits, .bytesSent, .bytesReceived,
                .droppedFields, .endedConnections, .openedConnections, .reusedConnections, .failedConnections:
                .counter
            }
        }

        var labels: [Label] {
            switch self {
            case .exchangeDuration, .requestBodySize, .responseBodySize:
                [.method, .address, .port, .status, .version, .error, .template, .operation]
            case .activeExchanges: [.method, .address, .port, .template]
            case .openConnections: [.address, .port, .connectionState, .version]
            case .connectionDuration: [.address, .port, .peer, .version]
            case .callDuration: [.method, .error, .template, .operation]
            case .phaseDuration: [.address, .port, .phase]
            case .retries: [.method, .error]
            case .redirects: [.status]
            case .resends: [.reason]
            case .cacheHits: [.cacheSource, .cacheState]
            case .endedConnections: [.address, .port, .reason]
            case .bytesSent, .bytesReceived, .connectionUses, .openedConnections, .reusedConnections,
                .failedConnections, .waitingRequests:
                [.address, .port]
            case .queueDuration, .joins, .connectivityWaits, .droppedFields, .runningRequests, .queuedRequests: []
            }
        }
    }
#endif
