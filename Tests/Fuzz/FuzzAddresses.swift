import DunlinSemantics
import DunlinTypes

/// URLs, references and Location fields: whatever comes, it is refused, or it is one address that reads the same when
/// it is written and read again, with a target that may be sent.
///
/// The input is a base and what is resolved against it, parted by 0x1E.
enum FuzzAddresses {
    static func violation(of input: [UInt8]) -> String? {
        let parts = input.split(separator: 0x1E, maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: parts[0], as: UTF8.self)
        if WebAddress.withoutUserInfo(text).utf8.count > text.utf8.count { return "a text grew by losing its user" }
        guard let base = address({ () throws(AddressError) in try WebAddress(text) }) else { return nil }
        if let violation = violation(of: base) { return violation }
        guard parts.count == 2 else { return nil }
        return violation(of: String(decoding: parts[1], as: UTF8.self), from: base)
            ?? violation(ofLocation: Array(parts[1]), from: base)
    }

    private static func address(_ make: () throws(AddressError) -> WebAddress) -> WebAddress? {
        do throws(AddressError) {
            return try make()
        } catch {
            return nil
        }
    }

    private static func violation(of address: WebAddress) -> String? {
        let isSendable = address.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        guard isSendable, address.target.hasPrefix("/") else { return "a target that may not be sent" }
        let again = Self.address { () throws(AddressError) in try WebAddress(address.description) }
        guard let again else { return "an address that cannot be read again" }
        if again.description != address.description || again.origin != address.origin { return "another address" }
        return again.userInfo == nil ? nil : "an address that shows its user"
    }

    private static func violation(of reference: String, from base: WebAddress) -> String? {
        let resolved = address { () throws(AddressError) in try base.resolving(reference) }
        if let direct = base.directTarget(for: reference), direct.target != resolved?.target {
            return "the direct way leads elsewhere"
        }
        return resolved.flatMap { violation(of: $0) }
    }

    private static func violation(ofLocation value: [UInt8], from base: WebAddress) -> String? {
        let name = Array("location".utf8)
        let bytes = name + value
        let fields = Fields(bytes: bytes, entries: [.init(name: 0..<name.count, value: name.count..<bytes.count)])
        switch Location(fields) {
        case .none, .ambiguous: return "one Location is none, or several"
        case .unreadable: return nil
        case .reference(let reference):
            let next = address { () throws(AddressError) in
                try RedirectRules.destination(of: reference, from: base)
            }
            guard let next else { return nil }
            if next.userInfo != nil { return "a Location names the user" }
            let allowed = RedirectRules.allowed(["Authorization": "A"], from: base.origin, to: next.origin)
            if !allowed.isEmpty, next.origin.authority != base.origin.authority { return "a secret went elsewhere" }
            return violation(of: next)
        }
    }
}
