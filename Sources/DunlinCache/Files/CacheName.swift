internal import DunlinSecure
package import DunlinSemantics
internal import DunlinTypes

/// The name of a key's files: the SHA-256 of the key, so that a list of the folder shows no URL.
package struct CacheName: Sendable, Hashable {
    let words: SIMD4<UInt64>

    /// Creates the name of a key; nil if OpenSSL has no such hash here.
    package init?(_ key: CacheKey) {
        do throws(HashFunction.Unavailable) {
            words = try HashFunction.sha256.hash(of: Bytes(key.text)).withUnsafeBytes { hash in
                func word(_ index: Int) -> UInt64 {
                    UInt64(bigEndian: hash.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
                }
                return SIMD4(word(0), word(1), word(2), word(3))
            }
        } catch {
            return nil
        }
    }

    /// Creates a name from 64 lowercase hexadecimal digits.
    init?(hex: ArraySlice<UInt8>) {
        guard hex.count == 64 else { return nil }
        var words = SIMD4<UInt64>()
        for index in 0..<4 {
            guard let word = CacheFileName.word(hex.dropFirst(16 * index).prefix(16)) else { return nil }
            words[index] = word
        }
        self.words = words
    }

    /// 64 lowercase hexadecimal digits.
    var hex: String {
        String(unsafeUninitializedCapacity: 64) { digits in
            for index in 0..<4 {
                var word = words[index]
                for position in 16 * index..<16 * (index + 1) {
                    digits[position] = Hex.digit(UInt8(truncatingIfNeeded: word >> 60))
                    word <<= 4
                }
            }
            return 64
        }
    }
    /// The byte of the lock's file that stands for this name. Names that share one merely wait for each other.
    var lockPosition: Int { Int(words[0] >> 48) }
}

/// The names of a cache's files. Other files in the folder belong to others and are left alone.
enum CacheFileName: Hashable {
    /// A key's file: the heads of what is stored under it, and the short bodies.
    case record(CacheName)
    /// A long body.
    case body(CacheName, UInt64)
    /// A file being written.
    case temporary(UInt64)
    /// The lock that all processes share.
    case lock
    /// The salt for hashes of secrets.
    case salt
    /// A file of another version.
    case other

    private static var stem: String { "dunlin-cache-" }
    static var version: String { "3" }
    private static let beginning = stem + version + "-"

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: Self.stem.utf8) else { return nil }
        let parts = bytes.dropFirst(Self.stem.utf8.count).split(separator: 0x2D, omittingEmptySubsequences: false)
        guard parts.count > 1, !parts[0].isEmpty, parts[0].allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        guard parts[0].elementsEqual(Self.version.utf8) else {
            self = .other
            return
        }
        if parts.count == 2, let name = CacheName(hex: parts[1]) {
            self = .record(name)
        } else if parts.count == 2, parts[1].elementsEqual("lock".utf8) {
            self = .lock
        } else if parts.count == 2, parts[1].elementsEqual("salt".utf8) {
            self = .salt
        } else if parts.count == 3, let number = Self.word(parts[2]) {
            if parts[1].elementsEqual("new".utf8) {
                self = .temporary(number)
            } else if let name = CacheName(hex: parts[1]) {
                self = .body(name, number)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// The name as text; empty for files of other versions, which are not created here.
    var text: String {
        switch self {
        case .record(let name): Self.beginning + name.hex
        case .body(let name, let id): Self.beginning + name.hex + "-" + Self.hex(id)
        case .temporary(let number): Self.beginning + "new-" + Self.hex(number)
        case .lock: Self.beginning + "lock"
        case .salt: Self.beginning + "salt"
        case .other: ""
        }
    }

    static func hex(_ word: UInt64) -> String { Hex.text(word, count: 16) }

    /// Reads sixteen lowercase hexadecimal digits; nil for anything else.
    static func word(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard text.count == 16 else { return nil }
        var word: UInt64 = 0
        for digit in text {
            switch digit {
            case 0x30...0x39: word = word << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: word = word << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return word
    }
}
