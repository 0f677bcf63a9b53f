/// Why a client identity cannot be loaded.
public enum IdentityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A file cannot be read, for the system's reason.
    case cannotRead(path: String, String)
    /// A file has more bytes than any identity.
    case tooLarge(path: String, limit: Int)
    case noCertificate
    case noKey
    /// The key, or the whole file, is encrypted and no passphrase was given.
    case passphraseNeeded
    case wrongPassphrase
    /// None of the certificates is for this key.
    case keyDoesNotFit
    /// Not what it was said to be, in OpenSSL's words.
    case malformed(String)

    public var description: String {
        switch self {
        case .cannotRead(let path, let reason): "the client identity's file \(path) cannot be read: \(reason)"
        case .tooLarge(let path, let limit):
            "the client identity's file \(path) has more than \(limit) bytes, a fixed limit"
        case .noCertificate: "there is no certificate in the client identity"
        case .noKey: "there is no private key in the client identity"
        case .passphraseNeeded: "the client identity is encrypted and there is no passphrase; give it as `passphrase:`"
        case .wrongPassphrase: "the passphrase does not open the client identity"
        case .keyDoesNotFit: "the client identity's key belongs to none of its certificates"
        case .malformed(let words): "the client identity cannot be read: \(words)"
        }
    }
}
