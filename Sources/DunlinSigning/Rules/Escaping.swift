internal import Dunlin

/// Percent-encoding as signatures want it: everything but letters, digits and `-._~`, in upper-case digits.
enum Escaping {
    static func escaped(_ bytes: some Sequence<UInt8>, keepingSlashes: Bool) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) || (keepingSlashes && byte == UInt8(ascii: "/")) {
                escaped.append(byte)
            } else {
                escaped.appendTriplet(of: byte)
            }
        }
        return escaped
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
