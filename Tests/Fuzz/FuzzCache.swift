import DunlinSemantics
import DunlinTypes

/// Exchanges through a private cache, one behind the other, of one URL. Whatever comes, nothing is served that may not
/// be, and the same is decided twice.
///
/// An exchange begins with `=`, the method, the status, the mode, how long the answer takes, how many bytes its body
/// has, and how long nothing happens then. Lines with `>` are fields of the request, those with `<` of the answer.
enum FuzzCache {
    static func violation(of input: [UInt8]) -> String? {
        var store = FuzzStore()
        for exchange in exchanges(in: input) {
            if let violation = store.violation(of: exchange) { return violation }
        }
        return nil
    }

    struct Exchange {
        var method = "GET"
        var status: UInt16 = 200
        var mode = CacheMode.standard
        var delay: Int64 = 0
        var count = 0
        var pause: Int64 = 0
        var request = Fields()
        var response = Fields()
    }

    private static func exchanges(in input: [UInt8]) -> [Exchange] {
        var exchanges: [Exchange] = []
        for line in input.split(separator: 0x0A) {
            let rest = line.dropFirst()
            switch line.first {
            case UInt8(ascii: "="): exchanges.append(exchange(String(decoding: rest, as: UTF8.self)))
            case UInt8(ascii: ">"):
                if exchanges.isEmpty { exchanges.append(Exchange()) }
                exchanges[exchanges.count - 1].request.append(contentsOf: field(rest))
            case UInt8(ascii: "<"):
                if exchanges.isEmpty { exchanges.append(Exchange()) }
                exchanges[exchanges.count - 1].response.append(contentsOf: field(rest))
            default: continue
            }
        }
        return exchanges
    }

    private static func exchange(_ line: String) -> Exchange {
        var exchange = Exchange()
        let words = line.split(separator: " ")
        func number(_ index: Int) -> Int64 { index < words.count ? Int64(words[index]) ?? 0 : 0 }
        if let method = words.first { exchange.method = String(method) }
        if words.count > 1 { exchange.status = UInt16(words[1]) ?? 200 }
        let modes = CacheMode.allCases
        exchange.mode = modes[Int(number(2).magnitude % UInt64(modes.count))]
        exchange.delay = number(3)
        exchange.count = Int(min(number(4).magnitude, 1_000_000))
        exchange.pause = number(5)
        return exchange
    }

    /// As received: values need not be UTF-8.
    private static func field(_ line: ArraySlice<UInt8>) -> Fields {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.startIndex < colon,
            line[..<colon].allSatisfy({ 0x21...0x7E ~= $0 })
        else { return Fields() }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        let bytes = Array(line[..<colon]) + value
        let name = line.startIndex.distance(to: colon)
        return Fields(bytes: bytes, entries: [.init(name: 0..<name, value: name..<bytes.count)])
    }
}
