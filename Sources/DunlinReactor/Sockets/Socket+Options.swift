public import DunlinTypes
internal import Glibc

/// The error for a socket option that the system refused.
public struct SocketOptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The option that was asked for.
    public let option: String
    public let errno: Errno
    /// What the option needs and the process lacks.
    public let need: String?

    public var description: String {
        "\(option): \(errno)" + (need.map { " (it needs \($0))" } ?? "")
    }
}

extension Socket {
    /// Sets all options, before connecting.
    public func apply(_ options: HTTP.SocketOptions, for peer: HTTP.SocketAddress) throws(SocketOptionError) {
        if case .unix = peer { return }
        // Set first: the interface decides what else is allowed.
        if let interface = options.interface {
            try asking("the interface \(interface)", for: "CAP_NET_RAW") { () throws(Errno) in
                try setDevice(interface)
            }
        }
        if let local = options.localAddress {
            try asking("the local address \(local)", for: "CAP_NET_BIND_SERVICE") { () throws(Errno) in
                try bind(to: local)
            }
        }
        if options.noDelay { try asking("noDelay") { () throws(Errno) in try setNoDelay() } }
        if let keepAlive = options.keepAlive {
            try asking("keepAlive") { () throws(Errno) in try setKeepAlive(keepAlive) }
        }
        if let limit = options.userTimeout {
            let milliseconds = Int32(clamping: limit.clampedNanoseconds / 1_000_000)
            try asking("userTimeout") { () throws(Errno) in
                try setOption(Self.tcp, TCP_USER_TIMEOUT, milliseconds)
            }
        }
        if let code = options.differentiatedServices {
            try asking("differentiatedServices") { () throws(Errno) in
                try setServices(Int32(code) << 2, peer.family)
            }
        }
        // After the class of service, which sets a priority of its own.
        if let priority = options.priority {
            try asking("priority", for: "CAP_NET_ADMIN") { () throws(Errno) in
                try setOption(SOL_SOCKET, SO_PRIORITY, Int32(priority))
            }
        }
    }

    /// Runs one system call, and names the option in its error.
    private func asking(
        _ option: @autoclosure () -> String, for capability: String? = nil, _ call: () throws(Errno) -> Void
    ) throws(SocketOptionError) {
        do throws(Errno) {
            try call()
        } catch {
            let isForbidden = error.rawValue == EPERM || error.rawValue == EACCES
            throw SocketOptionError(option: option(), errno: error, need: isForbidden ? capability : nil)
        }
    }

    private static var tcp: Int32 { Int32(IPPROTO_TCP) }

    private func setDevice(_ name: String) throws(Errno) {
        let code = Array(name.utf8).withUnsafeBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0.baseAddress, socklen_t($0.count))
        }
        guard code == 0 else { throw Errno.last }
    }

    private func bind(to address: HTTP.SocketAddress) throws(Errno) {
        // Leaves the choice of a port to connect(), which may use one for many peers. It only saves ports: a system
        // without it chooses now.
        var thrift: Int32 = 1
        _ = setsockopt(
            descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &thrift, socklen_t(MemoryLayout<Int32>.size))
        let code = try address.withSockaddr { Glibc.bind(descriptor, $0, $1) }
        guard code == 0 else { throw Errno.last }
    }

    private func setKeepAlive(_ probes: HTTP.SocketOptions.KeepAlive) throws(Errno) {
        try setOption(Self.tcp, TCP_KEEPIDLE, Int32(clamping: probes.idle.components.seconds))
        try setOption(Self.tcp, TCP_KEEPINTVL, Int32(clamping: probes.interval.components.seconds))
        try setOption(Self.tcp, TCP_KEEPCNT, Int32(clamping: probes.count))
        try setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    private func setServices(_ bits: Int32, _ family: Int32) throws(Errno) {
        if family == AF_INET6 {
            try setOption(Int32(IPPROTO_IPV6), IPV6_TCLASS, bits)
        } else {
            try setOption(Int32(IPPROTO_IP), IP_TOS, bits)
        }
    }
}

// MARK: - What a test may ask

extension Socket {
    /// The options that the kernel says are set on a TCP socket. Zero bits of service and priority read as not set.
    package func options() throws(Errno) -> HTTP.SocketOptions {
        let family: Int32 = try option(SOL_SOCKET, SO_DOMAIN)
        var options = HTTP.SocketOptions()
        options.localAddress = try localAddress()
        options.interface = try device()
        options.noDelay = try option(Self.tcp, TCP_NODELAY) != 0
        if try option(SOL_SOCKET, SO_KEEPALIVE) != 0 {
            options.keepAlive = HTTP.SocketOptions.KeepAlive(
                idle: .seconds(try option(Self.tcp, TCP_KEEPIDLE)),
                interval: .seconds(try option(Self.tcp, TCP_KEEPINTVL)), count: Int(try option(Self.tcp, TCP_KEEPCNT)))
        }
        let limit = try option(Self.tcp, TCP_USER_TIMEOUT)
        options.userTimeout = limit == 0 ? nil : .milliseconds(limit)
        let isSix = family == AF_INET6
        let bits = try option(Int32(isSix ? IPPROTO_IPV6 : IPPROTO_IP), isSix ? IPV6_TCLASS : IP_TOS)
        options.differentiatedServices = bits == 0 ? nil : UInt8(truncatingIfNeeded: bits >> 2)
        let priority = try option(SOL_SOCKET, SO_PRIORITY)
        options.priority = priority == 0 ? nil : UInt8(truncatingIfNeeded: priority)
        return options
    }

    package func lowWater() throws(Errno) -> Int {
        Int(try option(SOL_SOCKET, SO_RCVLOWAT))
    }

    private func localAddress() throws(Errno) -> HTTP.SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let (code, address) = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                let code = getsockname(descriptor, pointer.baseAddress, &length)
                return (code, pointer.baseAddress.flatMap { HTTP.SocketAddress(kernel: $0) })
            }
        }
        guard code == 0 else { throw Errno.last }
        return address
    }

    private func device() throws(Errno) -> String? {
        var name = [UInt8](repeating: 0, count: 16)
        var length = socklen_t(name.count)
        guard getsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, &name, &length) == 0 else { throw Errno.last }
        let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}
