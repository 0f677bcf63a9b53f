#if Metrics
    public import Dunlin

    extension HTTPSession {
        /// Measures the session's connections now and at every interval, until the session is shut down or the task is
        /// cancelled: how many are open, active and idle, how many were opened, and how many requests wait.
        ///
        /// `settings` should be a copy of those that the session's requests are measured with. A session with a custom
        /// transport has no connections of its own, only requests.
        ///
        /// ```swift
        /// async let connections: Void = client.measureConnections(with: settings)
        /// ```
        public func measureConnections(
            every interval: Duration = .seconds(10), with settings: MetricsSettings = MetricsSettings()
        ) async {
            var report = GaugeReport(Instruments(settings))
            for await gauges in gauges(every: interval) { report.take(gauges) }
            report.end()
        }
    }

    /// Turns a session's gauges into changes, so that what several sessions report adds up.
    struct GaugeReport {
        private struct Level {
            let instrument: Instrument
            let labels: LabelSet
            var number = 0
        }

        private let instruments: Instruments
        private var levels: [HandlerKey: Level] = [:]
        private var pool = HTTPSession.Gauges.Pool()

        init(_ instruments: Instruments) {
            self.instruments = instruments
        }

        mutating func take(_ gauges: HTTPSession.Gauges) {
            var new: [HandlerKey: Level] = [:]
            func add(_ number: Int, to instrument: Instrument, _ labels: LabelSet = LabelSet()) {
                let key = HandlerKey(instrument, labels, session: 0)
                new[key, default: Level(instrument: instrument, labels: labels)].number += number
            }
            let pool = gauges.pool ?? HTTPSession.Gauges.Pool()
            for (origin, numbers) in pool.origins {
                var labels = LabelSet(server: server(origin))
                if instruments.settings.includesOwn { add(numbers.waiting, to: .waitingRequests, labels) }
                guard instruments.settings.includesDevelopment else { continue }
                // What is spoken over every connection.
                if instruments.settings.includesPeers { labels.version = .http11 }
                labels.detail = instruments.detail("active")
                add(numbers.leased, to: .openConnections, labels)
                labels.detail = instruments.detail("idle")
                add(numbers.idle, to: .openConnections, labels)
            }
            if instruments.settings.includesOwn {
                add(gauges.requests, to: .runningRequests)
                add(gauges.queued, to: .queuedRequests)
                count(.openedConnections, \.opened, in: pool)
                count(.reusedConnections, \.reuses, in: pool)
                count(.failedConnections, \.failed, in: pool)
            }
            change(to: new)
            self.pool = pool
        }

        /// Takes back all that is reported as open, waiting or running.
        mutating func end() {
            change(to: [:])
        }

        private mutating func change(to new: [HandlerKey: Level]) {
            for (key, level) in levels where new[key] == nil {
                if level.number == 0 || instruments.give(-level.number, to: level.instrument, level.labels) {
                    levels[key] = nil
                }
            }
            for (key, level) in new {
                let old = levels[key]
                guard old?.number != level.number else { continue }
                let change = level.number - (old?.number ?? 0)
                if instruments.give(change, to: level.instrument, level.labels) { levels[key] = level }
            }
        }

        /// Counts what was added since the last time. An origin that is no longer listed is part of the others from
        /// then on, with all that was counted of it before.
        private func count(
            _ instrument: Instrument, _ number: KeyPath<HTTP.ConnectionGauges, Int>, in new: HTTPSession.Gauges.Pool
        ) {
            for (origin, numbers) in new.origins {
                let (from, to) = (pool.origins[origin]?[keyPath: number] ?? 0, numbers[keyPath: number])
                instruments.count(instrument, LabelSet(server: server(origin)), to < from ? to : to - from)
            }
            let moved = pool.origins.lazy.filter { new.origins[$0.key] == nil }.reduce(0) {
                $0 + $1.value[keyPath: number]
            }
            let others = new.others[keyPath: number] - pool.others[keyPath: number] - moved
            instruments.count(instrument, LabelSet(server: .other), others)
        }

        /// The server of an origin as gauges name it: `https://host:8443`, and what follows a blank says which way
        /// there.
        private func server(_ origin: String) -> Server {
            let name = origin.prefix { $0 != " " }
            let isSecure = name.hasPrefix("https://")
            var authority = name.dropFirst(isSecure ? 8 : 7)
            var port: UInt16 = isSecure ? 443 : 80
            if let colon = authority.lastIndex(of: ":"), let number = UInt16(authority[colon...].dropFirst()) {
                port = number
                authority = authority[..<colon]
            }
            if authority.hasPrefix("["), authority.hasSuffix("]") { authority = authority.dropFirst().dropLast() }
            return instruments.server(String(authority), port, isOwn: false)
        }
    }
#endif
