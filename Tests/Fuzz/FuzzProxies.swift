import DunlinSemantics
import DunlinTypes

/// A proxy's URL, a NO_PROXY, and a host, parted by 0x1E; what follows a third one are the bytes of an address.
///
/// Whatever comes, a proxy is refused or is one that reads the same when it is written again, and shows nobody's name;
/// a list means the same in another order; and no form of an address passes the guard that the address does not.
enum FuzzProxies {
    static func violation(of input: [UInt8]) -> String? {
        let parts = input.split(separator: 0x1E, maxSplits: 3, omittingEmptySubsequences: false)
        let texts = parts.prefix(3).map { String(decoding: $0, as: UTF8.self) } + ["", ""]
        let proxy = proxy(texts[0])
        let list = list(texts[1])
        if let proxy, let problem = violation(of: proxy) { return "\(problem): \(proxy)" }
        if let list, let problem = violation(of: list, texts[1], texts[2]) { return problem }
        if let problem = violation(ofVariables: texts, proxy, list) { return problem }
        if let address = IPAddress(texts[2]), let problem = violation(of: address) { return "\(problem): \(address)" }
        guard parts.count == 4 else { return nil }
        let bits = parts[3].prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let address = parts[3].count > 4 ? IPAddress.v6(bits) : .v4(UInt32(truncatingIfNeeded: bits))
        return violation(of: address).map { "\($0): \(address)" }
    }

    private static func proxy(_ text: String) -> ProxyAddress? {
        do throws(ProxyAddressError) { return try ProxyAddress(text) } catch { return nil }
    }

    private static func list(_ text: String) -> ProxyExceptions? {
        do throws(ProxyExceptionsError) { return try ProxyExceptions(text) } catch { return nil }
    }

    private static func violation(of address: ProxyAddress) -> String? {
        let shown = address.description
        if shown.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "@") }) { return "not a URL" }
        guard let again = proxy(shown) else { return "not read again" }
        if again.credentials != nil { return "it shows who asks" }
        let isSame = again.scheme == address.scheme && again.host == address.host && again.port == address.port
        if !isSame { return "another proxy" }
        guard let credentials = address.credentials, address.scheme.isSOCKS else { return nil }
        let counts = [credentials.user.utf8.count, credentials.password.utf8.count]
        return counts.allSatisfy((1...255).contains) ? nil : "credentials that SOCKS cannot say"
    }

    private static func violation(of list: ProxyExceptions, _ text: String, _ host: String) -> String? {
        let isCovered = list.cover(host: host, port: 443)
        let items = text.split { $0 == "," || $0.isWhitespace }
        guard let turned = Self.list(items.reversed().joined(separator: " , ")) else { return "order matters" }
        if turned.cover(host: host, port: 443) != isCovered { return "another list in another order" }
        guard let longer = Self.list(text + ",*") else { return "no longer a list" }
        if !longer.coverAll || !longer.cover(host: host, port: 1) { return "a host that * does not cover" }
        // A host that is fit for an entry covers itself, and what lies below it.
        guard let own = Self.list(host), !own.isEmpty,
            !host.contains(where: { ":/,*.[".contains($0) || $0.isWhitespace })
        else { return nil }
        if !own.cover(host: host, port: 443) { return "a name that does not cover itself" }
        return own.cover(host: "a." + host, port: 443) ? nil : "a name that does not cover those below it"
    }

    private static func violation(
        ofVariables texts: [String], _ proxy: ProxyAddress?, _ list: ProxyExceptions?
    ) -> String? {
        do throws(ProxyEnvironmentError) {
            let environment = try ProxyEnvironment.of(["all_proxy": texts[0], "NO_PROXY": texts[1]])
            guard let environment, let proxy, let list else { return nil }
            switch environment.choice(for: .https, host: texts[2], port: 443) {
            case .direct: return nil
            case .proxy(let chosen):
                if list.cover(host: texts[2], port: 443) { return "a host that the list covers goes to the proxy" }
                return chosen == proxy ? nil : "another proxy than named"
            }
        } catch {
            if !"\(error)".contains(error.variable) { return "an error that names no variable" }
            return error.variable == "all_proxy" || error.variable == "NO_PROXY" ? nil : "another variable"
        }
    }

    private static func violation(of address: IPAddress) -> String? {
        guard IPAddress(address.description) == address, let socket = HostLiteral.parse(address.description, port: 80)
        else { return "an address that is not read again" }
        let purpose = AddressPurpose(address)
        let isAllowed = GuardRules.publicInternet.refusal(dialling: socket) == nil
        if isAllowed != (purpose.kind == .public) { return "the kind does not decide" }
        if let inner = purpose.inner, isAllowed, AddressPurpose(inner).kind != .public {
            return "what is inside passed"
        }
        if case .v6(let bits) = address, isAllowed, purpose.inner == nil, bits >> 125 != 1 { return "nobody's address" }
        if case .v4(let bits) = address {
            let mapped = AddressPurpose(.v6(0xFFFF_0000_0000 | UInt128(bits)))
            if mapped.kind != purpose.kind { return "the kernel's other form of it is something else" }
        }
        return violation(ofRangesAround: address, socket)
    }

    private static func violation(ofRangesAround address: IPAddress, _ socket: HTTP.SocketAddress) -> String? {
        for length in [0, 7, 31, 32, 64, 96, 128] {
            let text = "\(address)/\(length)"
            let range: AddressRange
            do throws(AddressRange.Problem) {
                range = try AddressRange(text)
            } catch {
                guard case .hostBits(let meant) = error else { continue }
                guard let found = Self.range(meant) else { return "\(text) is told to be \(meant)" }
                range = found
            }
            if !range.contains(address) { return "\(range) does not have the address it is around" }
            if Self.range(range.description) != range { return "\(range) is not read again" }
            var rules = GuardRules(allowing: Set(AddressKind.allCases))
            rules.deniedRanges = [range]
            if rules.refusal(dialling: socket) == nil { return "\(range) is denied, and its address passed" }
        }
        return nil
    }

    private static func range(_ text: String) -> AddressRange? {
        do throws(AddressRange.Problem) { return try AddressRange(text) } catch { return nil }
    }
}
