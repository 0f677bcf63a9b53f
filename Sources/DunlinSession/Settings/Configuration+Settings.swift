extension HTTPSession.Configuration: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("baseURL", &baseURL)
        try visitor.visit("socketPath", &socketPath)
        try visitor.visit("fields", &fields, as: { $0.settingsLines }) { Fields(settingsLines: $0) }
        try visitor.visit("requestSerializer", &requestSerializer)
        try visitor.group("timeouts", &timeouts)
        try visitor.group("connections", &connections)
        try visitor.group("queue", &queue)
        try visitor.group("names", &nameResolution)
        try visitor.group("sockets", &sockets)
        try visitor.group("interfaces", &interfaces)
        try visitor.visit("proxy", &proxy)
        try visitor.visit("cacheMode", &cacheMode)
        try visitor.group("coalescing", &coalescing)
        try visitor.visit("guard", &self.guard)
        try visitor.visit("waitsForConnectivity", &waitsForConnectivity)
        try visitor.visit("emitsReachabilityEvents", &emitsReachabilityEvents)
        try visitor.group("limits", &limits)
        try visitor.visit("secretFields", &secretFields, as: { $0.more.sorted() }) { HTTP.SecretFields($0) }
        try visitor.group("redirects", &redirects)
        try visitor.group("retry", &retry)
        try visitor.visit("basicInClearText", &basicInClearText)
        try visitor.visit("showsRefusedBodies", &showsRefusedBodies)
        try visitor.group("tls", &tls)
        try visitor.group("proxyTLS", &proxyTLS)
        visitor.leaveOut("json", "acceptedContentTypes", "acceptedStatuses", "hostOverrides", "reachability")
        visitor.leaveOut("authenticationHandler", "credentials", "authentication", "originFields")
        visitor.leaveOut("interceptors", "observers", "cookies", "cache", "userID", "hooks", "securityWarningHandler")
        visitor.leaveOut("gate", "resolver", "transport", "random", "codecs", "environment", "loops", "loopOwner")
    }
}

extension Timeouts: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        for limit in Limit.allCases { try visitor.visit(limit.rawValue, seconds: &self[limit]) }
    }
}

extension HTTPSession.Connections: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("perOrigin", &perOrigin)
        try visitor.visit("total", &total)
        try visitor.visit("maximumWaiting", &maximumWaiting)
        try visitor.visit("idleTime", seconds: &idleTime)
        try visitor.visit("maximumAge", seconds: &maximumAge)
        try visitor.visit("maximumUses", &maximumUses)
    }
}

extension HTTPSession.QueueLimits: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("running", &running)
        try visitor.visit("runningPerOrigin", &runningPerOrigin)
        try visitor.visit("maximumWaiting", &maximumWaiting)
        visitor.leaveOut("shared")
    }
}

extension HTTPSession.Coalescing: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("isOn", &isOn)
        try visitor.visit("largestBody", &largestBody)
    }
}

extension HTTPSession.NameResolution: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("timeToLive", seconds: &timeToLive)
        try visitor.visit("negativeTimeToLive", seconds: &negativeTimeToLive)
        try visitor.visit("capacity", &capacity)
        try visitor.visit("rotates", &order, as: { $0 == .rotating }) { $0 ? .rotating : .asGiven }
        try visitor.visit("connectionAttemptDelay", seconds: &connectionAttemptDelay)
    }
}

extension HTTP.SocketOptions: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("interface", &interface)
        try visitor.visit("noDelay", &noDelay)
        try visitor.visit("userTimeout", seconds: &userTimeout)
        try visitor.visit("differentiatedServices", &differentiatedServices)
        try visitor.visit("priority", &priority)
        visitor.leaveOut("localAddress")
        var hasKeepAlive = keepAlive != nil
        try visitor.visit("keepAlive", &hasKeepAlive)
        guard hasKeepAlive else { return keepAlive = nil }
        var probing = keepAlive ?? KeepAlive()
        try visitor.visit("keepAliveIdle", seconds: &probing.idle)
        try visitor.visit("keepAliveInterval", seconds: &probing.interval)
        try visitor.visit("keepAliveCount", &probing.count)
        keepAlive = probing
    }
}

extension NetworkInterface.Rules: SettingsGroup {
    /// Visits the settings in a fixed order, so that equal rules are always written in the same way.
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("allowedNames", &allowedNames, as: { $0.sorted() }) { Set($0) }
        try visitor.visit("deniedNames", &deniedNames, as: { $0.sorted() }) { Set($0) }
        try visitor.visit("allowedKinds", &allowedKinds, as: Self.names) { Self.kinds($0) }
        try visitor.visit("deniedKinds", &deniedKinds, as: Self.names) { Self.kinds($0) }
    }

    private static func names(_ kinds: Set<NetworkInterface.Kind>) -> [String] { kinds.map(\.rawValue).sorted() }

    private static func kinds(_ names: [String]) -> Set<NetworkInterface.Kind>? {
        let kinds = names.compactMap(NetworkInterface.Kind.init)
        return kinds.count == names.count ? Set(kinds) : nil
    }
}

extension HTTPSession.Limits: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("bodyBytes", &bodyBytes)
        try visitor.visit("decodedBytes", &decodedBytes)
        try visitor.visit("decodingRatio", &decodingRatio)
        try visitor.visit("headBytes", &headBytes)
        try visitor.visit("lineBytes", &lineBytes)
        try visitor.visit("fieldCount", &fieldCount)
        try visitor.visit("interimResponses", &interimResponses)
        try visitor.visit("trailerBytes", &trailerBytes)
        try visitor.visit("errorBodyBytes", &errorBodyBytes)
        try visitor.visit("resends", &resends)
    }
}

extension HTTPSession.RedirectPolicy: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("follows", &follows)
        try visitor.visit("limit", &limit)
        try visitor.visit("secretFields", &secretFields)
        try visitor.visit("allowsHTTPSToHTTP", &allowsHTTPSToHTTP)
    }
}

extension Fields {
    /// Lines of the form `Name: value`, in order.
    var settingsLines: [String] { map { "\($0.name): \($0.value)" } }

    init?(settingsLines lines: [String]) {
        self.init()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            append(name: String(line[..<colon]), value: String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
    }
}
